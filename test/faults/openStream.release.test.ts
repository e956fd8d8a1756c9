// Tests that nothing of an open stream refers to its request, by the objects that a full collection leaves.
// Must not depend on the gateway above the upstream client.
import { expect, it } from "@effect/vitest"
import { queryObjects } from "node:v8"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { dialectNames, openStream, realUpstream, type Watch } from "../support/openStreams.ts"

/** Lives as long as the object that has it. */
class Mark {
  readonly isMark = true
}

const marked: Watch = (object) => Object.defineProperty(object, "mark", { value: new Mark() })

for (const name of dialectNames)
  it.live(`open stream: keeps nothing of its request (${name})`, () =>
    Effect.gen(function* () {
      const { opened } = yield* openStream(name, marked)
      expect(queryObjects(Mark)).toBe(0)
      expect(Stream.isStream(opened.chunks)).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(realUpstream))
  )
