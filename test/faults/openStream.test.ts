// Tests that an open stream does not need its request any more: a prompt of megabytes would stay for minutes.
// Must not ask the garbage collector.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { dialectNames, openStream, realUpstream, type Watch } from "../support/openStreams.ts"

for (const name of dialectNames)
  it.live(`open stream: reads nothing of its request after the head of its answer (${name})`, () =>
    Effect.gen(function* () {
      const usual = yield* openStream(name, (object) => object)
      yield* usual.end
      const expected = yield* Stream.runCollect(usual.opened.chunks)
      expect(JSON.stringify(expected)).toContain(" Wind.")

      const revokes: Array<() => void> = []
      const watch: Watch = (object) => {
        const { proxy, revoke } = Proxy.revocable(object, { get: (target, key): unknown => Reflect.get(target, key) })
        revokes.push(revoke)
        return proxy
      }
      const { end, opened } = yield* openStream(name, watch)
      // From now on any use of the request, its context or its call throws.
      for (const revoke of revokes) revoke()
      yield* end
      expect(yield* Stream.runCollect(opened.chunks)).toEqual(expected)
      expect(opened.keepsRequest).toBe(false)
    }).pipe(Effect.scoped, Effect.provide(realUpstream))
  )
