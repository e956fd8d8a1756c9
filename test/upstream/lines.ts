// A small dialect for tests: a line of text is an event, so that Upstream is tested without a translator.
// Must not depend on a provider.
import * as Result from "effect/Result"
import { ProviderError } from "../../src/domain/ProviderError.ts"
import { streamReader } from "../../src/translate/StreamReader.ts"
import { streamFailed } from "../../src/translate/Translator.ts"
import type { Prepared } from "../../src/upstream/Prepared.ts"
import type { AttemptTimes } from "../../src/upstream/Upstream.ts"

/** Longer than any test: a test of one of these timers sets it. */
export const times: AttemptTimes = {
  connectMillis: 600_000,
  firstByteMillis: 600_000,
  idleMillis: 600_000,
  totalMillis: 600_000
}

/** Chunks are lines. The line `FAIL` is a failure, the line `END` the regular end. */
export const lines = (url: string, body = "hi"): Prepared<string, string> => ({
  target: { slug: "evil", kind: "google", modelId: "m", operation: "chat", optionIndex: 0, issuer: "gemini/google" },
  method: "POST",
  url,
  headers: { "content-type": "application/json" },
  body: { say: body },
  ignored: [],
  reply: (status, _headers, bytes) => {
    const text = Buffer.from(bytes).toString("utf8")
    return status === 200
      ? Result.succeed(text)
      : Result.fail(
          new ProviderError({
            slug: "evil",
            upstreamStatus: status,
            reason: { _tag: "Internal", status, message: `${text.length} bytes: ${text.slice(0, 20)}` }
          })
        )
  },
  chunks: () =>
    streamReader<{ rest: Buffer; ended: boolean }, string>({
      initial: () => ({ rest: Buffer.alloc(0), ended: false }),
      step: (state, bytes) => {
        const all = Buffer.concat([state.rest, bytes])
        const last = all.lastIndexOf(10)
        if (last < 0) return [{ ...state, rest: all }, []]
        const out = all.subarray(0, last).toString("utf8").split("\n")
        return [
          { rest: all.subarray(last + 1), ended: state.ended || out.includes("END") },
          out.filter((line) => line !== "END").map((line) => (line === "FAIL" ? failed : line))
        ]
      },
      onHalt: ({ ended }) => (ended ? [] : [truncated])
    })
})

const failed = streamFailed({
  _tag: "Overloaded",
  code: "upstream_unavailable",
  message: "The upstream has no capacity."
})
const truncated = streamFailed({ _tag: "BadReply", kind: "truncated", message: "The upstream ended without a finish." })
