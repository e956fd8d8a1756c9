// Tests two processes on one store: a change is checked again when the other process changes a record first.
// Must not run where a database takes one process only.
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Administration } from "../../src/admin/Administration.ts"
import { RecordRefused } from "../../src/domain/GatewayError.ts"
import type { StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { GatewayKeys } from "../../src/keys/GatewayKeys.ts"
import { type Declarations, ConfigSnapshot } from "../../src/store/ConfigSnapshot.ts"
import type { MasterKeys } from "../../src/store/Encryption.ts"
import { Records } from "../../src/store/Records.ts"
import * as Store from "../../src/store/Store.ts"
import { Vault } from "../../src/store/Vault.ts"
import { vertexAccount } from "../support/account.ts"
import { databases, patiently, someMasters } from "../support/databases.ts"

const actor = { id: "cli", requestId: undefined }
const declared: Declarations = { accounts: [{ ...vertexAccount, slug: "prod" }], keys: [], configs: {}, prompts: [] }

/** A process in which `meanwhile` runs once, between the check of a change and its write. */
const processOn = (
  location: StoreLocation,
  masters: MasterKeys,
  meanwhile: () => Effect.Effect<unknown, unknown> = () => Effect.void
) => {
  let next: Effect.Effect<unknown> = Effect.suspend(() => Effect.orDie(meanwhile()))
  const first = Effect.suspend(() => {
    const now = next
    next = Effect.void
    return now
  })
  const records = Layer.effect(
    Records,
    Effect.map(Records, (own) => ({
      ...own,
      create: (...change: Parameters<typeof own.create>) => Effect.andThen(first, own.create(...change)),
      update: (...change: Parameters<typeof own.update>) => Effect.andThen(first, own.update(...change)),
      remove: (...change: Parameters<typeof own.remove>) => Effect.andThen(first, own.remove(...change))
    }))
  )
  const keys = Layer.unwrap(Effect.map(Vault, ({ pepper }) => GatewayKeys.layer(pepper)))
  return Effect.map(
    Layer.build(
      Layer.fresh(
        Administration.layer.pipe(
          Layer.provide(keys),
          Layer.provide(ConfigSnapshot.layerAlone(declared)),
          Layer.provide(records),
          Layer.provide(Store.layer(location, masters))
        )
      )
    ),
    (context) => Context.get(context, Administration)
  )
}

describe.each(databases.filter(({ takesSeveral }) => takesSeveral))("two processes on one $name", ({ location }) => {
  /** A process that is slower than the other one. */
  const two = (meanwhile: (faster: Administration["Service"]) => Effect.Effect<unknown, unknown>) =>
    Effect.gen(function* () {
      const at = yield* location
      const masters = someMasters()
      const faster = yield* processOn(at, masters)
      return { faster, slower: yield* processOn(at, masters, () => meanwhile(faster)) }
    })

  it.effect("two processes: make one first key", () =>
    Effect.gen(function* () {
      let made: unknown
      const { slower } = yield* two(({ keys }) =>
        Effect.map(keys.createFirst("admin", actor), (key) => void (made = key?.name))
      )
      expect(yield* slower.keys.createFirst("admin", actor)).toBeUndefined()
      expect([made, (yield* slower.keys.list(10)).rows.map(({ name, scopes }) => [name, scopes])]).toEqual([
        "admin",
        [["admin", ["admin"]]]
      ])
    }).pipe(Effect.scoped, patiently)
  )

  it.effect("two processes: leave one key with the scope admin", () =>
    Effect.gen(function* () {
      const ids: Array<string> = []
      const { faster, slower } = yield* two(({ keys }) => keys.remove(ids[0] ?? "", actor))
      for (const name of ["a", "b"]) ids.push((yield* faster.keys.create({ name, scopes: ["admin"] }, actor)).id)
      expect(yield* Effect.flip(slower.keys.remove(ids[1] ?? "", actor))).toEqual(
        new RecordRefused({
          code: "last_admin_key",
          message: `"${ids[1]}" is the last key with the scope "admin"; make another one first.`
        })
      )
    }).pipe(Effect.scoped, patiently)
  )

  it.effect("two processes: remove nothing that the other process has begun to use", () =>
    Effect.gen(function* () {
      let id = ""
      const { faster, slower } = yield* two(({ keys }) =>
        Effect.map(keys.create({ name: "team", config: "fast" }, actor), (key) => void (id = key.id))
      )
      yield* faster.configs.create({ id: "fast", config: {} }, actor)
      expect(yield* Effect.flip(slower.configs.remove("fast", actor))).toEqual(
        new RecordRefused({
          code: "in_use",
          message: `Without the config "fast" as it is these would stop working: key ${id}. Change them first.`
        })
      )
    }).pipe(Effect.scoped, patiently)
  )

  it.effect("two processes: lose no part of each other's changes", () =>
    Effect.gen(function* () {
      const { faster, slower } = yield* two(({ prompts }) =>
        prompts.update("p", { text: "of the faster", labels: { a: 1 } }, actor)
      )
      yield* faster.prompts.create({ id: "p", text: "first" }, actor)
      yield* slower.prompts.update("p", { text: "of the slower" }, actor)
      const { labels, text, version } = yield* faster.prompts.get("p")
      expect([version, text, labels]).toEqual([3, "of the slower", { a: 1 }])
    }).pipe(Effect.scoped, patiently)
  )
})
