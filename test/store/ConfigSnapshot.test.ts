// Tests the configuration snapshot: declarations and stored records in one view, which follows their changes.
// Must not depend on HTTP.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import { Catalog, Configs, Prompts } from "../../src/catalog/Catalog.ts"
import { KeyInvalid, StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { GatewayKeys } from "../../src/keys/GatewayKeys.ts"
import { type Declarations, ConfigSnapshot } from "../../src/store/ConfigSnapshot.ts"
import { allVersions, type RecordKind, recordKinds } from "../../src/store/StoredRecord.ts"
import { Records } from "../../src/store/Records.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"

const actor = { id: "test", requestId: undefined }
const openAccount = { ...googleAccount, credentials: undefined }
const declared: Declarations = {
  accounts: [{ ...vertexAccount, slug: "prod" }, openAccount],
  keys: [{ name: "ci", key: Redacted.make("mgk_declared") }],
  configs: {},
  prompts: [{ id: "tone", name: undefined, versions: new Map([[1, { text: "Be kind." }]]), labels: new Map() }]
}

const services = (records: Layer.Layer<Records> = Records.layerMemory) =>
  Layer.mergeAll(Catalog.layer, Configs.layer, Prompts.layer, GatewayKeys.layer(Redacted.make("pepper"))).pipe(
    Layer.provideMerge(Layer.provideMerge(ConfigSnapshot.layer(declared), records))
  )

describe("the configuration snapshot", () => {
  it.effect("snapshot: has a stored account with its record, and prefers a declared account of the same slug", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const records = yield* Records
      const snapshot = yield* ConfigSnapshot
      expect(catalog.list().map(({ slug }) => slug)).toEqual(["prod", "google"])
      const secret = Redacted.make({ api_key: "AIza-stored" })
      yield* records.create("provider", "gemini", { value: { slug: "gemini", provider: "google" }, secret }, actor)
      yield* records.create("provider", "prod", { value: { slug: "prod", provider: "google" }, secret }, actor)
      yield* records.create("provider", "google", { value: { slug: "google", provider: "google" }, secret }, actor)
      expect(catalog.resolve("gemini")).toBeUndefined()
      yield* snapshot.refresh
      expect(catalog.list().map(({ slug }) => slug)).toEqual(["prod", "gemini", "google"])
      expect(catalog.resolve("gemini")).toEqual({
        ...openAccount,
        slug: "gemini",
        credentials: { _tag: "ApiKey", key: Redacted.make("AIza-stored") }
      })
      expect(catalog.resolve("prod")?.kind).toBe("vertex-ai")
      expect(catalog.resolve("google")?.credentials?._tag).toBe("ApiKey")
    }).pipe(Effect.provide(services()))
  )

  it.effect("snapshot: follows a change by another process at the next poll of the store (TH35)", () =>
    Effect.gen(function* () {
      const keys = yield* GatewayKeys
      const records = yield* Records
      const value = { name: "team", digest: keys.digest("mgk_stored"), prefix: "mgk_sto" }
      yield* records.create("key", "k1", { value }, actor)
      expect(yield* Effect.flip(keys.find("mgk_stored"))).toBeInstanceOf(KeyInvalid)
      yield* TestClock.adjust("1 second")
      expect((yield* keys.find("mgk_stored")).id).toBe("k1")
      yield* records.update("key", "k1", { value: { ...value, revoked_at: "2027-01-01T00:00:00Z" } }, actor)
      yield* TestClock.adjust("1 second")
      expect(yield* Effect.flip(keys.find("mgk_stored"))).toBeInstanceOf(KeyInvalid)
      expect((yield* keys.find("mgk_declared")).id).toBe("ci")
    }).pipe(Effect.provide(services()))
  )

  it.effect("snapshot: refuses a key from its expiry time on", () =>
    Effect.gen(function* () {
      const keys = yield* GatewayKeys
      const records = yield* Records
      const value = {
        name: "team",
        digest: keys.digest("mgk_stored"),
        prefix: "mgk_sto",
        expires_at: "1970-01-01T00:01:00Z"
      }
      yield* records.create("key", "k1", { value }, actor)
      yield* TestClock.adjust("59 seconds")
      expect((yield* keys.find("mgk_stored")).id).toBe("k1")
      yield* TestClock.adjust("1 second")
      expect(yield* Effect.flip(keys.find("mgk_stored"))).toBeInstanceOf(KeyInvalid)
    }).pipe(Effect.provide(services()))
  )

  it.effect("snapshot: refuses a key whose expiry time is malformed", () =>
    Effect.gen(function* () {
      const keys = yield* GatewayKeys
      const value = {
        name: "team",
        digest: keys.digest("mgk_stored"),
        prefix: "mgk_sto",
        expires_at: "2027-02-31T00:00:00Z"
      }
      yield* (yield* Records).create("key", "k1", { value }, actor)
      yield* TestClock.adjust("1 second")
      expect(yield* Effect.flip(keys.find("mgk_stored"))).toBeInstanceOf(KeyInvalid)
    }).pipe(Effect.provide(services()))
  )

  it.effect("snapshot: has every version of a stored prompt, with declared partials", () =>
    Effect.gen(function* () {
      const prompts = yield* Prompts
      const records = yield* Records
      const snapshot = yield* ConfigSnapshot
      const value = {
        model: "@prod/gemini-2.5-flash",
        messages: [{ role: "user", content: "{{>tone}} Hello {{name}}" }]
      }
      yield* records.create("prompt", "greet", { value }, actor)
      yield* records.update(
        "prompt",
        "greet",
        { value: { ...value, model: "@prod/gemini-2.5-pro", labels: { production: 1 } } },
        actor
      )
      yield* records.create(
        "prompt",
        "broken",
        { value: { ...value, messages: [{ role: "user", content: "{{>nothing}}" }] } },
        actor
      )
      yield* snapshot.refresh
      expect(prompts.find("greet")?.model).toBe("@prod/gemini-2.5-flash")
      expect(prompts.find("greet@2")?.model).toBe("@prod/gemini-2.5-pro")
      expect(prompts.find("broken")).toBeUndefined()
    }).pipe(Effect.provide(services()))
  )

  it.effect("snapshot: replaces declarations in all views together", () =>
    Effect.gen(function* () {
      const snapshot = yield* ConfigSnapshot
      const catalog = yield* Catalog
      const configs = yield* Configs
      yield* snapshot.declare({ ...declared, accounts: [googleAccount], keys: [] })
      expect(catalog.list()).toEqual([googleAccount])
      expect(yield* Effect.flip((yield* GatewayKeys).find("mgk_declared"))).toBeInstanceOf(KeyInvalid)
      expect(configs.find("fast")).toBeUndefined()
    }).pipe(Effect.provide(services()))
  )

  it.effect("snapshot: reads after a change what has changed, and has the same as one that reads all", () => {
    let wholeReads = 0
    const counted = Layer.effect(
      Records,
      Effect.map(Records, (records) => ({
        ...records,
        histories: (kind: RecordKind) => {
          wholeReads++
          return records.histories(kind)
        }
      }))
    ).pipe(Layer.provide(Records.layerMemory))
    return Effect.gen(function* () {
      const records = yield* Records
      const snapshot = yield* ConfigSnapshot
      const keys = yield* GatewayKeys
      const model = "@prod/gemini-2.5-flash"
      const prompt = { value: { model, messages: [{ role: "user", content: "Hello" }] } }
      const key = (text: string) => ({ value: { name: "team", digest: keys.digest(text), prefix: "mgk_sto" } })
      wholeReads = 0
      for (const [step, change] of [
        records.create("key", "k1", key("mgk_1"), actor),
        records.create("key", "k2", key("mgk_2"), actor),
        records.update("key", "k1", key("mgk_3"), actor),
        records.create("prompt", "p", prompt, actor),
        records.update("prompt", "p", prompt, actor),
        Effect.andThen(records.remove("key", "k2", actor), records.create("key", "k2", key("mgk_4"), actor)),
        records.create("key", "k3", { value: { name: "broken" } }, actor),
        Effect.andThen(records.remove("key", "k3", actor), records.remove("prompt", "p", actor))
      ].entries()) {
        yield* change
        yield* snapshot.refresh
        const { records: has, revision } = snapshot.current()
        for (const kind of recordKinds)
          expect([step, kind, allVersions(has[kind])]).toEqual([step, kind, yield* records.histories(kind)])
        expect(revision).toBe(yield* records.revision)
      }
      // The test itself has read all four kinds after each of the eight changes.
      expect(wholeReads).toBe(32)
      const found = yield* Effect.forEach(["mgk_1", "mgk_2", "mgk_3", "mgk_4"], (text) =>
        Effect.match(keys.find(text), { onSuccess: ({ id }) => id, onFailure: () => undefined })
      )
      expect(found).toEqual([undefined, undefined, "k1", "k2"])
    }).pipe(Effect.provide(services(counted)))
  })

  it.effect("snapshot: reads all where the audit log does not reach back", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const snapshot = yield* ConfigSnapshot
      const keys = yield* GatewayKeys
      for (const id of ["k1", "k2", "k3"]) {
        const value = { name: id, digest: keys.digest(`mgk_${id}`), prefix: "mgk_sto" }
        yield* records.create("key", id, { value }, actor)
      }
      yield* snapshot.refresh
      expect((yield* keys.find("mgk_k1")).id).toBe("k1")
      expect((yield* keys.find("mgk_k3")).id).toBe("k3")
    }).pipe(Effect.provide(services()), Effect.provideService(Limits, { ...defaultLimits, auditStored: 1 }))
  )

  it.effect(
    "snapshot: accepts known keys during a store outage and answers 503 for unknown ones, which may be new (F33)",
    () => {
      let away = false
      const gone = new StoreUnavailable({ reason: "unreachable" })
      const flaky = Layer.effect(
        Records,
        Effect.map(Records, (records) => ({
          ...records,
          revision: Effect.suspend(() => (away ? Effect.fail(gone) : records.revision))
        }))
      ).pipe(Layer.provide(Records.layerMemory))
      return Effect.gen(function* () {
        const keys = yield* GatewayKeys
        away = true
        yield* TestClock.adjust("1 second")
        expect((yield* keys.find("mgk_declared")).id).toBe("ci")
        expect(yield* Effect.flip(keys.find("mgk_unknown"))).toEqual(gone)
        away = false
        yield* TestClock.adjust("1 second")
        expect(yield* Effect.flip(keys.find("mgk_unknown"))).toBeInstanceOf(KeyInvalid)
      }).pipe(Effect.provide(services(flaky)))
    }
  )
})
