// What clients carry: sealed for one gateway key, the same on every replica of one master key.
// It must not know what a carrier holds.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Carriers } from "../../src/store/Carriers.ts"
import { masterKeysGiven } from "../../src/store/Encryption.ts"

const master = (byte: number) => Redacted.make(Buffer.alloc(32, byte).toString("base64"))
const sealsOf = (...bytes: ReadonlyArray<number>) =>
  Effect.provide(
    Effect.flatMap(Carriers, ({ forKey }) => forKey("key_1")),
    Carriers.layer(masterKeysGiven(bytes.map(master), "the test"))
  )

describe("a sealed carrier", () => {
  it.effect("is the same text on every replica with the master key, and opens there (R403 R406)", () =>
    Effect.gen(function* () {
      const one = yield* sealsOf(1)
      const other = yield* sealsOf(1)
      const sealed = one.seal('{"v":1}')
      expect(sealed).toMatch(/^mgr1\.[A-Za-z0-9_-]+$/)
      expect(other.seal('{"v":1}')).toBe(sealed)
      expect(other.unseal(sealed)).toBe('{"v":1}')
      expect(one.seal('{"v":2}')).not.toBe(sealed)
    })
  )

  it.effect("opens by every listed master key, the newest of which seals (R405)", () =>
    Effect.gen(function* () {
      const sealed = (yield* sealsOf(1)).seal("old")
      const rotated = yield* sealsOf(2, 1)
      expect(rotated.unseal(sealed)).toBe("old")
      expect((yield* sealsOf(2)).unseal(sealed)).toBeUndefined()
      expect((yield* sealsOf(2)).unseal(rotated.seal("new"))).toBe("new")
    })
  )

  it.effect("does not open for another gateway key, nor when any character was changed (R405 R412)", () =>
    Effect.gen(function* () {
      const { forKey } = yield* Carriers
      const own = yield* forKey("key_1")
      const sealed = own.seal("text")
      expect((yield* forKey("key_2")).unseal(sealed)).toBeUndefined()
      for (let at = 0; at < sealed.length; at++) {
        const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1)
        expect(own.unseal(changed)).toBeUndefined()
      }
      expect(["", "mgr1.", "mgr1.!", "gAAAAABo", `${sealed}=`].map((text) => own.unseal(text))).toEqual(
        Array.from({ length: 5 })
      )
    }).pipe(Effect.provide(Carriers.layerMemory))
  )
})
