// Sends a body to a route of the gateway by a typed key, and reads what became of it.
// Must not know the session, or how results are shown.
import * as client from "../../AdminClient.ts"
import { readAnswer } from "../requests/readAnswer.ts"

export interface Sending {
  readonly key: string
  readonly route: string
  /** Id of a config; empty for that of the key. */
  readonly config: string
  readonly body: unknown
}

/** The answer as a text, and the row of the request once it is listed. */
export interface Replayed {
  readonly answer: string
  readonly row: client.RequestRow | undefined
}

/** The text of an answer, or the whole of one that has none, such as an error. */
export const answerTextOf = (answer: string): string => {
  const { text } = readAnswer(answer)
  return text === "" ? answer : text
}

const mostLooks = 20
const lookMillis = 100

/** Rows are listed shortly after their requests have ended. */
const rowOf = async (requestId: string): Promise<client.RequestRow | undefined> => {
  for (let look = 0; look < mostLooks; look++) {
    const { data } = await client.requests({ request_id: requestId, limit: "1" })
    if (data[0] !== undefined) return client.request(data[0].id)
    await new Promise((done) => setTimeout(done, lookMillis))
  }
  return undefined
}

export const replay = async ({ body, config, key, route }: Sending): Promise<Replayed> => {
  const response = await fetch(route, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gateway-api-key": key,
      ...(config === "" ? {} : { "x-gateway-config": config })
    },
    body: JSON.stringify(body)
  })
  const answer = answerTextOf(await response.text())
  return { answer, row: await rowOf(response.headers.get("x-request-id") ?? "") }
}
