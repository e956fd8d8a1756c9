// Tests administration below HTTP: reads and changes, validated like the configuration file, atomic, without secrets.
// Must not depend on HTTP.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import { Administration } from "../../src/admin/Administration.ts"
import { Catalog, Configs, Prompts } from "../../src/catalog/Catalog.ts"
import {
  KeyInvalid,
  RecordChanged,
  RecordInvalid,
  RecordRefused,
  RecordUnknown,
  StoreUnavailable
} from "../../src/domain/GatewayError.ts"
import { GatewayKeys } from "../../src/keys/GatewayKeys.ts"
import { type Declarations, ConfigSnapshot } from "../../src/store/ConfigSnapshot.ts"
import { Records } from "../../src/store/Records.ts"
import { vertexAccount } from "../support/account.ts"
import { config } from "../support/config.ts"
import { serviceAccount } from "../support/TestGateway.ts"

const actor = { id: "key_admin", requestId: "r1" }
const canary = "AIzaCanary0000000000000000000000000wxyz"
const accountJson = {
  type: "service_account",
  project_id: "test-project",
  private_key_id: serviceAccount.privateKeyId,
  private_key: serviceAccount.privateKeyPem,
  client_email: serviceAccount.clientEmail
}
const declared: Declarations = {
  accounts: [
    {
      ...vertexAccount,
      slug: "prod",
      credentials: { _tag: "AccessToken", token: Redacted.make("ya29.canary-declared-token-0000") }
    }
  ],
  keys: [
    {
      name: "ci",
      key: Redacted.make("mgk_canarydeclared000000000000000000000"),
      budget: { usd: 50, per: "month" },
      expires_at: "1970-01-01T00:01:00.000Z"
    },
    { name: "boss", key: Redacted.make("mgk_short"), scopes: ["admin"], expires_at: "1970-01-01T00:16:40.000Z" }
  ],
  configs: { slow: config({ provider: "@prod", api_key: canary }) },
  prompts: [
    {
      id: "tone",
      name: undefined,
      versions: new Map([
        [1, { text: "Be kind." }],
        [2, { text: "Be brief." }]
      ]),
      labels: new Map([["production", 1]])
    }
  ]
}

const services = Layer.mergeAll(Administration.layer, Catalog.layer, Configs.layer, Prompts.layer).pipe(
  Layer.provideMerge(GatewayKeys.layer(Redacted.make("pepper"))),
  Layer.provideMerge(ConfigSnapshot.layer(declared)),
  Layer.provideMerge(Records.layerMemory)
)

const faultsOf = (error: unknown): unknown =>
  error instanceof RecordInvalid ? error.faults.map(({ message, path }) => `${path} ${message}`) : error
const kept = {
  source: "store",
  version: 1,
  created_at: "1970-01-01T00:00:00.000Z",
  updated_at: "1970-01-01T00:00:00.000Z"
}

describe("administration of providers", () => {
  it.effect("providers: a new one is usable immediately and shown without its credential", () =>
    Effect.gen(function* () {
      const { providers } = yield* Administration
      const catalog = yield* Catalog
      const made = yield* providers.create(
        { slug: "gemini", provider: "google", api_key: canary, models: ["gemini-*"] },
        actor
      )
      const shown = {
        object: "provider",
        slug: "gemini",
        provider: "google",
        models: ["gemini-*"],
        credential: { type: "api_key", fingerprint: "c7fba27c...wxyz" },
        ...kept
      }
      expect(made).toEqual(shown)
      expect(yield* providers.get("gemini")).toEqual(shown)
      expect(catalog.resolve("gemini")?.credentials).toEqual({ _tag: "ApiKey", key: Redacted.make(canary) })
      const list = yield* providers.list(10)
      expect(list).toEqual({
        rows: [
          shown,
          {
            object: "provider",
            slug: "prod",
            provider: "vertex-ai",
            project_id: "test-project",
            region: "us-central1",
            credential: { type: "access_token", fingerprint: "085719d3...0000" },
            source: "file",
            managed: "file"
          }
        ],
        next: undefined
      })
      expect(yield* Effect.flip(providers.create({ slug: "gemini", provider: "google" }, actor))).toEqual(
        new RecordRefused({
          code: "already_exists",
          message: 'There is a provider "gemini" already; update it, or choose another id.'
        })
      )
      yield* providers.remove("gemini", actor)
      expect(catalog.resolve("gemini")).toBeUndefined()
      expect(yield* Effect.flip(providers.get("gemini"))).toEqual(new RecordUnknown({ kind: "provider", id: "gemini" }))
    }).pipe(Effect.provide(services))
  )

  it.effect("providers: every fault is reported with its path", () =>
    Effect.gen(function* () {
      const { providers } = yield* Administration
      const faults = (written: Parameters<typeof providers.create>[0]) =>
        Effect.map(Effect.flip(providers.create(written, actor)), faultsOf)
      expect(
        yield* faults({
          slug: "Bad Slug",
          provider: "vertex-ai",
          region: "us-centrl1",
          base_url: "ftp://x",
          api_key: "k",
          credentials: { type: "access_token", token: "t" }
        })
      ).toEqual([
        'slug "Bad Slug" is not a slug: lower-case letters, digits and "-", at most 63',
        'region "us-centrl1" is not a region; did you mean us-central1?',
        "base_url expected an http or https URL without user, query or fragment",
        "credentials give api_key or credentials, not both"
      ])
      expect(yield* faults({ provider: "vertex", apikey: canary, models: "x" })).toEqual([
        "apikey unknown key; did you mean api_key?",
        "slug is missing",
        'provider "vertex" is not known here; did you mean vertex-ai?',
        "models expected a list"
      ])
      expect(
        yield* faults({
          slug: "v",
          provider: "vertex-ai",
          credentials: { type: "service_account", file: "/etc/passwd" }
        })
      ).toEqual(["credentials a file is read for the configuration file only; give the key file's content as json"])
    }).pipe(Effect.provide(services))
  )

  it.effect.each([
    ["a value that is not an object", "canary", "expected a mapping of keys"],
    [
      "another type",
      { ...accountJson, type: "external_account", credential_source: { url: "http://169.254.169.254" } },
      "The service-account key"
    ],
    ["no key", { ...accountJson, private_key: "canary" }, "The service-account key"]
  ])("providers: a service account of %s is refused, and never repeated (B95)", ([, json]) =>
    Effect.gen(function* () {
      const { providers } = yield* Administration
      const error = yield* Effect.flip(
        providers.create({ slug: "v", provider: "vertex-ai", credentials: { type: "service_account", json } }, actor)
      )
      expect(error._tag).toBe("RecordInvalid")
      expect(JSON.stringify(error)).not.toMatch(/canary|169\.254/)
    }).pipe(Effect.provide(services))
  )

  it.effect("providers: a credential that is not named stays at its destination, and null removes it", () =>
    Effect.gen(function* () {
      const { providers } = yield* Administration
      const catalog = yield* Catalog
      const made = yield* providers.create({ slug: "gemini", provider: "google", api_key: canary }, actor)
      const { credential: _, ...bare } = made
      // A resource can be sent back as it was read.
      const changed = yield* providers.update("gemini", { ...bare, models: ["gemini-2.5-flash"] }, actor)
      expect(changed).toEqual({ ...made, models: ["gemini-2.5-flash"], version: 2 })
      expect(catalog.resolve("gemini")?.credentials).toEqual({ _tag: "ApiKey", key: Redacted.make(canary) })
      const moved = { provider: "google", base_url: "https://elsewhere.example" }
      expect(faultsOf(yield* Effect.flip(providers.update("gemini", moved, actor)))).toEqual([
        "base_url changes where the credential is sent; send the credential as well"
      ])
      expect((yield* providers.update("gemini", { ...moved, api_key: "new" }, actor)).credential).toEqual({
        type: "api_key",
        fingerprint: "11507a0e"
      })
      expect(
        (yield* providers.update("gemini", { provider: "google", api_key: null }, actor)).credential
      ).toBeUndefined()
      expect(catalog.resolve("gemini")?.credentials).toBeUndefined()
      expect(
        faultsOf(yield* Effect.flip(providers.update("gemini", { slug: "other", provider: "google" }, actor)))
      ).toEqual(["slug is another than that of the URL; a slug cannot be changed"])
    }).pipe(Effect.provide(services))
  )

  it.effect.each([
    ["base_url", "http://169.254.169.254/computeMetadata"],
    ["base_url", "http://metadata.google.internal"],
    ["token_url", "http://[fe80::1]/token"],
    ["token_url", "http://0xa9.0xfe.0xa9fe/token"]
  ] as const)("providers: the %s %s is refused (TH4)", ([name, url]) =>
    Effect.gen(function* () {
      const { providers } = yield* Administration
      const error = yield* Effect.flip(providers.create({ slug: "v", provider: "vertex-ai", [name]: url }, actor))
      expect(faultsOf(error)).toEqual([`${name} is an address for a machine's own metadata; no provider lives there`])
    }).pipe(Effect.provide(services))
  )

  it.effect("providers: the machine's own credential is accepted for Google's hosts only (TH4)", () =>
    Effect.gen(function* () {
      const { providers } = yield* Administration
      const entry = { slug: "v", provider: "vertex-ai", credentials: { type: "application_default" } }
      expect(
        faultsOf(yield* Effect.flip(providers.create({ ...entry, base_url: "https://elsewhere.example" }, actor)))
      ).toEqual([
        "base_url would be sent the machine's own credential; application_default goes with Google's own hosts only"
      ])
      expect((yield* providers.create(entry, actor)).credential).toEqual({ type: "application_default" })
    }).pipe(Effect.provide(services))
  )

  it.effect("providers: a declared one cannot be changed, and one in use cannot be removed", () =>
    Effect.gen(function* () {
      const { configs, keys, prompts, providers } = yield* Administration
      const refused = new RecordRefused({
        code: "declared_in_configuration",
        message:
          'The provider "prod" is declared under "providers" of the configuration file, or by the environment; change it there.'
      })
      for (const change of [
        providers.create({ slug: "prod", provider: "google" }, actor),
        providers.update("prod", { provider: "google" }, actor),
        providers.remove("prod", actor)
      ]) {
        expect(yield* Effect.flip(change)).toEqual(refused)
      }
      yield* providers.create({ slug: "gemini", provider: "google", api_key: canary }, actor)
      yield* configs.create({ id: "fast", config: { provider: "@gemini" } }, actor)
      yield* prompts.create(
        { id: "hi", model: "@gemini/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] },
        actor
      )
      expect(yield* Effect.flip(providers.remove("gemini", actor))).toEqual(
        new RecordRefused({
          code: "in_use",
          message:
            'Without the provider "gemini" as it is these would stop working: config fast, prompt hi. Change them first.'
        })
      )
      const { id } = yield* keys.create({ name: "k", config: "fast" }, actor)
      expect((yield* Effect.flip(configs.remove("fast", actor))).message).toBe(
        `Without the config "fast" as it is these would stop working: key ${id}. Change them first.`
      )
      yield* keys.remove(id, actor)
      yield* configs.remove("fast", actor)
      yield* prompts.remove("hi", actor)
      yield* providers.remove("gemini", actor)
    }).pipe(Effect.provide(services))
  )
})

describe("administration of keys", () => {
  it.effect("keys: the text is returned once, its digest alone is stored, and it is accepted immediately (TH1)", () =>
    Effect.gen(function* () {
      const { keys } = yield* Administration
      const found = yield* GatewayKeys
      const { key = "", ...made } = yield* keys.create(
        {
          name: "team",
          providers: ["prod"],
          rate_limit: { requests_per_minute: 10 },
          budget: { usd: 1.5, per: "day" },
          metadata: { team: "a" },
          metadata_locked: true
        },
        actor
      )
      expect(key).toMatch(/^mgk_[0-9A-Za-z]{43}$/)
      expect(made).toEqual({
        object: "key",
        id: expect.stringMatching(/^key_000000000[0-9a-f]{12}$/),
        name: "team",
        providers: ["prod"],
        rate_limit: { requests_per_minute: 10 },
        budget: { usd: 1.5, per: "day" },
        metadata: { team: "a" },
        metadata_locked: true,
        prefix: key.slice(0, 8),
        ...kept
      })
      expect(yield* keys.get(made.id)).toEqual(made)
      expect((yield* found.find(key)).id).toBe(made.id)
      expect(JSON.stringify(yield* (yield* Records).list("key"))).not.toContain(key.slice(8, 16))
      const changed = yield* keys.update(made.id, { ...made, name: "team b", providers: null }, actor)
      const { providers: _, ...open } = made
      expect(changed).toEqual({ ...open, name: "team b", version: 2 })
      expect((yield* found.find(key)).providers).toBeUndefined()
    }).pipe(Effect.provide(services))
  )

  it.effect("keys: a rotated or revoked text is refused from then on, and the key stays listed", () =>
    Effect.gen(function* () {
      const { keys } = yield* Administration
      const found = yield* GatewayKeys
      const { id, key: first = "" } = yield* keys.create({ name: "team" }, actor)
      const { key: second = "", ...rotated } = yield* keys.rotate(id, actor)
      expect(yield* Effect.flip(found.find(first))).toBeInstanceOf(KeyInvalid)
      expect((yield* found.find(second)).id).toBe(id)
      yield* TestClock.adjust("1 minute")
      yield* keys.remove(id, actor)
      yield* keys.remove(id, actor)
      expect(yield* Effect.flip(found.find(second))).toBeInstanceOf(KeyInvalid)
      const at = "1970-01-01T00:01:00.000Z"
      expect((yield* keys.list(1, "boss")).rows).toEqual([
        {
          object: "key",
          id: "ci",
          name: "ci",
          budget: { usd: 50, per: "month" },
          expires_at: at,
          prefix: "mgk_cana",
          source: "file",
          managed: "file"
        }
      ])
      expect(yield* keys.list(1, "ci")).toEqual({
        rows: [{ ...rotated, version: 3, updated_at: at, revoked_at: at }],
        next: undefined
      })
      const refused = new RecordRefused({
        code: "key_revoked",
        message: `The key "${id}" is revoked, and that is for good; make a new one.`
      })
      expect(yield* Effect.flip(keys.update(id, { name: "x" }, actor))).toEqual(refused)
      expect(yield* Effect.flip(keys.rotate(id, actor))).toEqual(refused)
    }).pipe(Effect.provide(services))
  )

  it.effect("keys: a text that was rotated with a grace time is taken until its end, and no longer than the key", () =>
    Effect.gen(function* () {
      const { keys } = yield* Administration
      const found = yield* GatewayKeys
      const { id, key: first = "" } = yield* keys.create({ name: "team" }, actor)
      const { key: second = "", ...rotated } = yield* keys.rotate(id, actor, undefined, 60)
      const until = "1970-01-01T00:01:00.000Z"
      expect([rotated.previous_until, (yield* found.find(first)).id, (yield* found.find(second)).id]).toEqual([
        until,
        id,
        id
      ])
      // A change of the key keeps both texts, and a name that is sent back changes neither.
      expect((yield* keys.update(id, { ...rotated, name: "crew" }, actor)).previous_until).toBe(until)
      expect([(yield* found.find(first)).name, (yield* found.find(second)).name]).toEqual(["crew", "crew"])
      yield* TestClock.adjust("59 seconds")
      yield* found.find(first)
      yield* TestClock.adjust("1 second")
      expect(yield* Effect.flip(found.find(first))).toBeInstanceOf(KeyInvalid)
      // Only the text before the last rotation is taken as well.
      const { key: third = "" } = yield* keys.rotate(id, actor, undefined, 60)
      const { key: fourth = "" } = yield* keys.rotate(id, actor, undefined, 60)
      expect(yield* Effect.flip(found.find(second))).toBeInstanceOf(KeyInvalid)
      yield* found.find(third)
      yield* keys.update(id, { name: "crew", expires_at: "1970-01-01T00:01:30.000Z" }, actor)
      yield* TestClock.adjust("30 seconds")
      for (const text of [third, fourth]) expect(yield* Effect.flip(found.find(text))).toBeInstanceOf(KeyInvalid)
    }).pipe(Effect.provide(services))
  )

  it.effect(
    "keys: a revoked key is refused with both of its texts, and a rotation without grace ends the older one",
    () =>
      Effect.gen(function* () {
        const { keys } = yield* Administration
        const found = yield* GatewayKeys
        const { id, key: first = "" } = yield* keys.create({ name: "team" }, actor)
        const { key: second = "" } = yield* keys.rotate(id, actor, undefined, 60)
        const { key: third = "", ...plain } = yield* keys.rotate(id, actor)
        expect(plain.previous_until).toBeUndefined()
        for (const text of [first, second]) expect(yield* Effect.flip(found.find(text))).toBeInstanceOf(KeyInvalid)
        const { key: fourth = "" } = yield* keys.rotate(id, actor, undefined, 60)
        yield* keys.remove(id, actor)
        for (const text of [third, fourth]) expect(yield* Effect.flip(found.find(text))).toBeInstanceOf(KeyInvalid)
      }).pipe(Effect.provide(services))
  )

  it.effect("keys: every fault is reported with its path", () =>
    Effect.gen(function* () {
      const { keys } = yield* Administration
      const faults = (written: Parameters<typeof keys.create>[0]) =>
        Effect.map(Effect.flip(keys.create(written, actor)), faultsOf)
      expect(
        yield* faults({
          scopes: ["root"],
          rate_limit: { requests_per_minute: 0 },
          budget: { usd: -1, per: "year" },
          key: "mgk_mine"
        })
      ).toEqual([
        "name is missing",
        'scopes[0] "root" is not known here; known: inference, admin',
        "rate_limit.requests_per_minute expected a whole number from 1 to 2147483647",
        "budget.usd expected US dollars from 0 to 1000000000",
        'budget.per "year" is not known here; known: day, month'
      ])
      expect(
        yield* faults({ name: "k", providers: ["prd"], config: "fast", expires_at: "tomorrow", key: "mgk_mine" })
      ).toEqual([
        "key is made by the gateway, and returned in its answer",
        'expires_at "tomorrow" is not a moment such as 2027-01-31T12:00:00Z',
        'providers[0] "prd" is no provider of this configuration; did you mean prod?',
        'config "fast" is no config of this configuration; known: slow'
      ])
    }).pipe(Effect.provide(services))
  )

  it.effect("keys: a key whose stored fields are unreadable accepts new fields, and keeps its text", () =>
    Effect.gen(function* () {
      const { keys } = yield* Administration
      const found = yield* GatewayKeys
      const value = {
        name: "rich",
        budget: { usd: 1e15, per: "day" },
        digest: found.digest("mgk_rich"),
        prefix: "mgk_rich"
      }
      yield* (yield* Records).create("key", "k1", { value }, actor)
      expect(yield* Effect.flip(keys.get("k1"))).toEqual(
        new RecordRefused({
          code: "record_unreadable",
          message:
            'The key "k1" cannot be read: budget.usd expected US dollars from 0 to 1000000000. Remove it, and create it again.'
        })
      )
      yield* keys.update("k1", { name: "rich", budget: { usd: 5, per: "day" } }, actor)
      expect((yield* found.find("mgk_rich")).budget).toEqual({ usd: 5, per: "day" })
    }).pipe(Effect.provide(services))
  )

  it.effect("keys: the last key with the scope admin cannot be removed", () =>
    Effect.gen(function* () {
      const { keys } = yield* Administration
      const { id } = yield* keys.create({ name: "second", scopes: ["admin"] }, actor)
      // The declared key has been valid until now.
      yield* TestClock.adjust("1000 seconds")
      const refused = new RecordRefused({
        code: "last_admin_key",
        message: `"${id}" is the last key with the scope "admin"; make another one first.`
      })
      expect(yield* Effect.flip(keys.remove(id, actor))).toEqual(refused)
      expect(yield* Effect.flip(keys.update(id, { name: "second" }, actor))).toEqual(refused)
      expect(
        yield* Effect.flip(
          keys.update(id, { name: "second", scopes: ["admin"], expires_at: "1970-01-01T00:00:00Z" }, actor)
        )
      ).toEqual(refused)
      const { id: third } = yield* keys.create({ name: "third", scopes: ["admin", "inference"] }, actor)
      // Two concurrent removals leave one key.
      const left = yield* Effect.all([Effect.exit(keys.remove(id, actor)), Effect.exit(keys.remove(third, actor))], {
        concurrency: 2
      })
      expect(left.map(({ _tag }) => _tag).toSorted()).toEqual(["Failure", "Success"])
    }).pipe(Effect.provide(services))
  )
})

describe("administration of configs", () => {
  it.effect("configs: credentials of targets are masked, and a mask written back keeps its credential", () =>
    Effect.gen(function* () {
      const { configs } = yield* Administration
      const found = yield* Configs
      const written = {
        strategy: { mode: "fallback" },
        targets: [
          { provider: "@prod", api_key: canary },
          { provider: "@prod", vertex_service_account_json: accountJson }
        ]
      }
      const shown = {
        strategy: { mode: "fallback" },
        targets: [
          { provider: "@prod", api_key: "***wxyz" },
          { provider: "@prod", vertex_service_account_json: { ...accountJson, private_key: "***" } }
        ]
      }
      const made = yield* configs.create({ id: "fast", name: "Fast", config: written }, actor)
      expect(made).toEqual({ object: "config", id: "fast", name: "Fast", config: shown, ...kept })
      expect(yield* configs.get("slow")).toEqual({
        object: "config",
        id: "slow",
        config: { provider: "@prod", api_key: "***wxyz" },
        source: "file",
        managed: "file"
      })
      expect(JSON.stringify((yield* (yield* Records).get("config", "fast")).value)).not.toMatch(/Canary|BEGIN/)
      const changed = yield* configs.update("fast", { ...made, config: { ...shown, request_timeout: 1000 } }, actor)
      expect(changed).toEqual({ ...made, config: { ...shown, request_timeout: 1000 }, version: 2 })
      expect(found.find("fast")?.targets[0]?.credentials).toEqual(
        config({ provider: "@prod", api_key: canary }).targets[0]?.credentials
      )
      expect(found.find("fast")?.targets[1]?.credentials).toEqual(
        config({ provider: "@prod", vertex_service_account_json: accountJson }).targets[0]?.credentials
      )
      yield* (yield* Administration).providers.create(
        { slug: "other", provider: "google", base_url: "https://elsewhere.example" },
        actor
      )
      const mask =
        "is how a credential is shown, and stands for none that this provider has here; write the credential itself"
      expect(
        faultsOf(
          yield* Effect.flip(configs.update("fast", { config: { provider: "@other", api_key: "***wxyz" } }, actor))
        )
      ).toEqual([`config.api_key ${mask}`])
    }).pipe(Effect.provide(services))
  )

  it.effect("configs: every fault is reported with its path", () =>
    Effect.gen(function* () {
      const { configs } = yield* Administration
      const faults = (written: Parameters<typeof configs.create>[0]) =>
        Effect.map(Effect.flip(configs.create(written, actor)), faultsOf)
      expect(
        yield* faults({
          id: "a b",
          config: { strategy: { mode: "conditional" }, targets: [{ provider: "@prd" }, { api_key: canary }] }
        })
      ).toEqual([
        'id is not an id: letters, digits, "_", "." and "-", at most 64',
        "config.targets[1] has credentials or a place of a provider, but names no provider",
        "config.strategy.conditions is missing",
        "config.strategy.default is missing: it names the target for requests that fit no condition",
        'config.targets[0] "prd" is no provider of this configuration; did you mean prod?'
      ])
      expect(yield* faults({ id: "a", config: { targets: [{ providr: "x" }] }, cofig: {} })).toEqual([
        "cofig unknown key; did you mean config?",
        "config.targets[0].providr unknown key; did you mean provider?"
      ])
    }).pipe(Effect.provide(services))
  )
})

describe("administration of prompts", () => {
  const chat = { model: "@prod/gemini-2.5-flash", messages: [{ role: "user", content: "{{>tone}} Hello {{name}}" }] }

  it.effect("prompts: each change makes a version, readable by number and label", () =>
    Effect.gen(function* () {
      const { prompts } = yield* Administration
      const found = yield* Prompts
      const made = yield* prompts.create({ id: "greet", name: "Greeting", ...chat, labels: { production: 1 } }, actor)
      expect(made).toEqual({
        object: "prompt",
        id: "greet",
        name: "Greeting",
        ...chat,
        labels: { production: 1 },
        versions: [1],
        ...kept
      })
      // A change without labels keeps the labels.
      const changed = yield* prompts.update(
        "greet",
        { ...chat, model: "@prod/gemini-2.5-pro", parameters: { temperature: 0 } },
        actor
      )
      const { name: _, ...unnamed } = made
      expect(changed).toEqual({
        ...unnamed,
        model: "@prod/gemini-2.5-pro",
        parameters: { temperature: 0 },
        version: 2,
        versions: [1, 2]
      })
      expect(yield* prompts.get("greet")).toEqual(changed)
      expect(yield* prompts.get("greet@latest")).toEqual(changed)
      const first = { ...made, versions: [1, 2] }
      expect(yield* prompts.get("greet@1")).toEqual(first)
      expect(yield* prompts.get("greet@production")).toEqual(first)
      expect(found.find("greet")?.model).toBe("@prod/gemini-2.5-flash")
      expect(yield* Effect.flip(prompts.get("greet@3"))).toEqual(new RecordUnknown({ kind: "prompt", id: "greet" }))
      expect(yield* Effect.flip(prompts.get("nobody@1"))).toEqual(new RecordUnknown({ kind: "prompt", id: "nobody" }))
      const tone = {
        object: "prompt",
        id: "tone",
        labels: { production: 1 },
        versions: [1, 2],
        source: "file",
        managed: "file"
      }
      expect(yield* prompts.get("tone")).toEqual({ ...tone, text: "Be brief.", version: 2 })
      expect(yield* prompts.get("tone@production")).toEqual({ ...tone, text: "Be kind.", version: 1 })
      expect((yield* prompts.list(10)).rows.map(({ id, version }) => [id, version])).toEqual([
        ["greet", 2],
        ["tone", 2]
      ])
    }).pipe(Effect.provide(services))
  )

  it.effect("prompts: every fault is reported with its path, and a partial in use is kept", () =>
    Effect.gen(function* () {
      const { prompts } = yield* Administration
      expect(
        faultsOf(
          yield* Effect.flip(
            prompts.create(
              {
                id: "bad id",
                model: "@prd/x",
                messages: [{ role: "user", content: "{{>nothing}}" }],
                parameters: { temperature: "hot" },
                labels: { production: 2 }
              },
              actor
            )
          )
        )
      ).toEqual([
        'id "bad id" is not an id: letters, digits, "_", "." and "-", at most 64',
        'model "prd" is no provider of this configuration; did you mean prod?',
        "parameters.temperature expected a number",
        'labels.production "bad id" has no version 2',
        'messages[0].content there is no prompt or partial "nothing"'
      ])
      yield* prompts.create({ id: "sign", text: "Yours" }, actor)
      yield* prompts.create({ id: "letter", ...chat, messages: [{ role: "user", content: "{{>sign}}" }] }, actor)
      expect((yield* Effect.flip(prompts.remove("sign", actor))).message).toBe(
        'Without the prompt "sign" as it is these would stop working: prompt letter. Change them first.'
      )
      yield* prompts.update("sign", { text: "Best" }, actor)
    }).pipe(Effect.provide(services))
  )
})

it.effect("administration: refuses a change from an older version, and repeats one without a precondition", () =>
  Effect.gen(function* () {
    const { configs } = yield* Administration
    yield* configs.create({ id: "fast", config: {} }, actor)
    const at = (version: number) => (record: { readonly version: number }) => record.version === version
    const writes = Array.from({ length: 8 }, (_, index) =>
      Effect.exit(configs.update("fast", { config: { request_timeout: index + 1 } }, actor, at(1)))
    )
    const exits = yield* Effect.all(writes, { concurrency: 8 })
    expect(exits.filter(({ _tag }) => _tag === "Success").length).toBe(1)
    expect(yield* Effect.flip(configs.remove("fast", actor, at(1)))).toEqual(new RecordChanged({ version: 2 }))
    yield* Effect.all(
      [1, 2, 3].map((millis) => configs.update("fast", { config: { request_timeout: millis } }, actor)),
      { concurrency: 3 }
    )
    expect((yield* configs.get("fast")).version).toBe(5)
  }).pipe(Effect.provide(services))
)

it.effect("administration: the audit log has actor and change, and no secret", () =>
  Effect.gen(function* () {
    const { audit, keys, providers } = yield* Administration
    yield* providers.create({ slug: "gemini", provider: "google", api_key: canary }, actor)
    const { id } = yield* keys.create({ name: "team" }, { id: "cli", requestId: undefined })
    yield* keys.rotate(id, actor)
    yield* keys.remove(id, actor)
    const entry = { object: "audit_entry", at: "1970-01-01T00:00:00.000Z" }
    const first = yield* audit(3)
    expect(first.rows).toEqual([
      { ...entry, actor: "key_admin", request_id: "r1", action: "revoke", kind: "key", id, version: 3 },
      { ...entry, actor: "key_admin", request_id: "r1", action: "rotate", kind: "key", id, version: 2 },
      { ...entry, actor: "cli", action: "create", kind: "key", id, version: 1 }
    ])
    expect(yield* audit(2, first.next)).toEqual({
      rows: [
        { ...entry, actor: "key_admin", request_id: "r1", action: "create", kind: "provider", id: "gemini", version: 1 }
      ],
      next: undefined
    })
  }).pipe(Effect.provide(services))
)

it.effect(
  "administration: a full or lost store refuses the change, keeps its records, and accepts the next change (F32)",
  () => {
    let trouble: StoreUnavailable | undefined
    const ailing = Layer.effect(
      Records,
      Effect.map(Records, (records) => ({
        ...records,
        update: (...change: Parameters<typeof records.update>) =>
          Effect.suspend(() => (trouble === undefined ? records.update(...change) : Effect.fail(trouble)))
      }))
    ).pipe(Layer.provide(Records.layerMemory))
    return Effect.gen(function* () {
      const { configs } = yield* Administration
      yield* configs.create({ id: "fast", config: {} }, actor)
      for (const reason of ["full", "unreachable"] as const) {
        trouble = new StoreUnavailable({ reason })
        expect(yield* Effect.flip(configs.update("fast", { config: { request_timeout: 1 } }, actor))).toEqual(trouble)
        expect((yield* configs.get("fast")).config).toEqual({})
      }
      trouble = undefined
      expect((yield* configs.update("fast", { config: { request_timeout: 2 } }, actor)).config).toEqual({
        request_timeout: 2
      })
      expect((yield* Configs).find("fast")?.targets[0]?.times?.request).toBe(2)
    }).pipe(
      Effect.provide(
        Layer.mergeAll(Administration.layer, Configs.layer).pipe(
          Layer.provideMerge(GatewayKeys.layer(Redacted.make("pepper"))),
          Layer.provideMerge(ConfigSnapshot.layer(declared)),
          Layer.provideMerge(ailing)
        )
      )
    )
  }
)
