// Tests which refused calls are sent again within the same attempt, and how a refused call is changed.
// Must not depend on clocks, on HTTP or on upstream calls.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { ProviderError, type Reason } from "../../src/domain/ProviderError.ts"
import { resendOf } from "../../src/router/failures.ts"
import { healRefused } from "../../src/router/heal.ts"
import { chatToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { prepare } from "../../src/upstream/Prepared.ts"
import { chatContext, chatRequest } from "../support/chat.ts"

const message = "What is wrong."
const failure = (reason: Reason, upstreamStatus = 400) => new ProviderError({ slug: "a", reason, upstreamStatus })
const refusedToken = failure({ _tag: "CredentialsRejected", message, origin: "stored" }, 401)
const refusedSignatures = failure({ _tag: "SignatureRejected", message })
const body = () => "without signatures"

describe("a refused call of the same attempt", () => {
  it("resend: a refused token is renewed once", () => {
    expect(resendOf(refusedToken, {}, false)).toBe("renewed")
    expect(resendOf(refusedToken, {}, true)).toBeUndefined()
    expect(resendOf(failure({ ...refusedToken.reason, message }, 403), {}, false)).toBeUndefined()
  })

  it("resend: refused signatures are left out where the call has others than ours (N506)", () => {
    expect(resendOf(refusedSignatures, { unsigned: body }, true)).toEqual({ unsigned: body })
    expect(resendOf(refusedSignatures, {}, false)).toBeUndefined()
  })

  it("resend: no other failure is sent again", () =>
    expect(resendOf(failure({ _tag: "InvalidRequest", message }), { unsigned: body }, false)).toBeUndefined())
})

describe("a refused call that may be changed", () => {
  const context = chatContext("gemini-2.5-flash")
  const { modelId, record } = context.target
  const request = chatRequest([{ role: "user", content: "Hi" }], { reasoning_effort: "none" })
  const prepared = Result.getOrThrow(
    prepare({
      translator: chatToGemini,
      request,
      context,
      target: { slug: "google", kind: "google", modelId, operation: "chat", optionIndex: 0, issuer: "gemini/google" },
      url: "https://example.com/v1",
      headers: {},
      origin: "stored",
      limits: { eventBytes: 1_000 }
    })
  )
  const attempt = { request, prepared, ignored: [], scope: { dialect: "gemini", native: false, record } } as const
  const unhealed = { left: 2, lessons: [], applied: [] }
  const refused = failure({
    _tag: "InvalidRequest",
    message: "Budget 0 is invalid. This model only works in thinking mode."
  })

  it("healing: an unknown refusal ends the calls of the target", () =>
    expect(healRefused(attempt, failure({ _tag: "InvalidRequest", message }), unhealed, () => [])).toEqual(
      Result.fail(failure({ _tag: "InvalidRequest", message }))
    ))

  it("healing: a known refusal changes the call, and teaches nothing a second time", () => {
    const healed = Result.getOrThrow(healRefused(attempt, refused, unhealed, () => []))
    expect([healed.healing.left, healed.healing.lessons.length, healed.healing.applied.length]).toEqual([1, 1, 1])
    expect(healed.change.prepared.body).not.toEqual(prepared.body)
    const again = healRefused({ ...attempt, ...healed.change }, refused, healed.healing, () => [])
    expect(again).toEqual(Result.fail(refused))
  })

  it("healing: changes nothing when no call is left", () =>
    expect(healRefused(attempt, refused, { ...unhealed, left: 0 }, () => [])).toEqual(Result.fail(refused)))
})
