// Tests the reader of token endpoint answers: Google's recorded one and those written here.
// Must not depend on the exchange.
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import { readTokenReply } from "../../src/auth/TokenCalls.ts"
import { loudlySkipped, recordings, sharedDir } from "../support/shared.ts"

const read = (status: number, body: unknown) =>
  readTokenReply({
    nowMillis: 0,
    status,
    text: JSON.stringify(body),
    subject: "The token endpoint",
    origin: "stored",
    retryAfterMillis: undefined
  })

const exchanges = recordings("oauth-token")
if (sharedDir() === undefined) loudlySkipped("the recorded answer of the token endpoint")

it("token answer: the token has the answer's lifetime (T2206)", () => {
  expect(read(200, { access_token: "ours", expires_in: 3599, token_type: "Bearer" })).toEqual(
    Result.succeed({ token: "ours", lifeMillis: 3_599_000 })
  )
})

it.each(exchanges)("token answer: the recorded exchange $id gives its token (T2206)", ({ response }) => {
  const body = response.body as { readonly access_token: string; readonly expires_in: number }
  expect(read(response.status, body)).toEqual(
    Result.succeed({ token: body.access_token, lifeMillis: body.expires_in * 1000 })
  )
})
