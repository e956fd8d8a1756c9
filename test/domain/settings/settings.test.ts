// Tests the configuration: the exact text of every fault, the precedence of sources, and secrets kept out of messages.
// Must not depend on the layers that use the settings.
import { generateKeyPairSync } from "node:crypto"
import * as fc from "fast-check"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { type Flags, variableOf } from "../../../src/cli/settings/environment.ts"
import { judgeSettings, readSettings, type SettingsInput } from "../../../src/cli/settings/readSettings.ts"
import { compileKey } from "../../../src/domain/GatewayKey.ts"
import type { Json } from "../../../src/domain/text/json.ts"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import type { Settings } from "../../../src/domain/settings/Settings.ts"
import { googleAccount } from "../../support/account.ts"
import { runs } from "../../support/release.ts"

const pem = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" }
}).privateKey

const serviceAccount = {
  type: "service_account",
  client_email: "me@sa-project.iam.gserviceaccount.com",
  private_key_id: "k1",
  private_key: pem,
  project_id: "sa-project"
}

const userLogin = {
  type: "authorized_user",
  client_id: "id",
  client_secret: "sekret",
  refresh_token: "sekret too",
  quota_project_id: "my-billing"
}

const files: Readonly<Record<string, string>> = {
  "file:sa.json": JSON.stringify(serviceAccount),
  "environment:/run/sa.json": JSON.stringify(serviceAccount),
  "environment:/run/user.json": JSON.stringify(userLogin),
  "environment:/run/wif.json": JSON.stringify({ type: "impersonated_service_account" }),
  "file:user.json": JSON.stringify(userLogin),
  "file:half.json": JSON.stringify({ type: "authorized_user", refresh_token: "sekret" }),
  "file:wrongQuota.json": JSON.stringify({ ...userLogin, quota_project_id: "a b" }),
  "file:broken.json": "{ sekret",
  "file:models.yaml": "gemini-5-*: { inherits: gemini-4-neon, context: 5 }\nClaude-Opus-5-5: { context: 6 }",
  "file:wrong.yaml": "gemini-5-*: { contxt: 5, inherits: gemini-4-noen }\ngemini-6: { inherits: gemini-4-noen }",
  "file:broken.yaml": "a: {"
}

const inputOf = (file: Json, env: Record<string, string | undefined>, flags: Flags): SettingsInput => ({
  file,
  env,
  flags,
  fileText: (path, writtenIn) => {
    const text = files[`${writtenIn}:${path}`]
    return text === undefined ? Result.fail("the credential file does not exist") : Result.succeed(text)
  }
})

const read = (file: Json, env: Record<string, string | undefined> = {}, flags: Flags = {}) =>
  readSettings(inputOf(file, env, flags))

const judge = (file: Json, env: Record<string, string | undefined> = {}) => judgeSettings(inputOf(file, env, {}))

const settings = (file: Json, env: Record<string, string | undefined> = {}, flags: Flags = {}): Settings =>
  Result.getOrThrowWith(read(file, env, flags), (faults) => new Error(JSON.stringify(faults)))

const faults = (file: Json, env: Record<string, string | undefined> = {}, flags: Flags = {}): ReadonlyArray<string> =>
  Result.match(read(file, env, flags), {
    onSuccess: () => [],
    onFailure: (all) => all.map((fault) => `${fault.path}  ${fault.message}`)
  })

const bare = { ...googleAccount, credentials: undefined }

const vertex = (fields: object): Json => ({ providers: [{ slug: "v", provider: "vertex-ai", ...fields }] })
const google = (fields: object): Json => ({ providers: [{ slug: "g", provider: "google", ...fields }] })

const regionFault = 'providers[0].region  "us-centrl1" is not a region; did you mean us-central1?'
const keyFault = "keys[0].key  must be 8 to 256 printable characters without spaces"
const badKey = { name: "a", key: "x" }

describe("models without a slug", () => {
  it("serving: defaults and aliases are kept as they are written (N1206, N1207)", () => {
    const file = {
      defaults: { claude: "vertex-ai", gemini: "google", openai: "vertex-ai" },
      aliases: { sonnet: "@vertex-ai/claude-sonnet-4-6", opus: "claude-opus-4-6[1m]", haiku: "haiku" }
    }
    const { aliases, defaults } = settings(file)
    expect({ aliases, defaults }).toStrictEqual(file)
  })
  it.each([
    [
      "defaults",
      { defaults: { claude: "vertx-ai" } },
      'defaults.claude  "vertx-ai" is no provider of this file, and one of the store cannot be named here; did you mean vertex-ai?'
    ],
    [
      "slug",
      { aliases: { sonnet: "@gogle/m" } },
      'aliases.sonnet  "gogle" is no provider of this file, and one of the store cannot be named here; did you mean google?'
    ],
    [
      "provider",
      { defaults: { claude: "team-b" } },
      'defaults.claude  "team-b" is no provider of this file, and one of the store cannot be named here; known: vertex-ai, google'
    ],
    ["alias of an alias", { aliases: { a: "b", b: "m" } }, 'aliases.a  "b" is an alias itself; name the model'],
    [
      "model",
      { aliases: { a: "../m" } },
      'aliases.a  is no model: "../m" is not a model id: letters, digits, ".", "_", "-", "/" and one "@version" are allowed.'
    ],
    [
      "name",
      { aliases: { "@a/b": "m" } },
      'aliases.@a/b  "@a/b" is not a name: letters, digits and "._:/-", at most 128'
    ]
  ])("serving: a wrong %s is a fault that names it (N1206)", (_, file, expected) => {
    expect(faults(file)).toStrictEqual([expected])
  })
})

describe("labels of attribution", () => {
  it("attribution: is kept as it is written (K30)", () => {
    const attribution = { labels: { gateway_key: "key", team: "metadata.team", env: "prod" } }
    expect(settings({ attribution }).attribution).toStrictEqual(attribution)
  })
  it("attribution: a wrong source or name is a fault that states the grammar (K30)", () => {
    expect([
      faults({ attribution: { labels: { a: "Prod" } } }),
      faults({ attribution: { labels: { Env: "x" } } })
    ]).toStrictEqual([
      [
        "attribution.labels.a  expected key, metadata.NAME, or a fixed text of lower-case letters, digits, _ and -, at most 63; team and end_user are reserved"
      ],
      [
        "attribution.labels  expected names of labels: a lower-case letter, then letters, digits, _ and -, at most 63 characters"
      ]
    ])
  })
})

describe("faults of meaning next to faults of shape", () => {
  it.each<readonly [string, Json, ReadonlyArray<string>]>([
    [
      "a provider without a slug",
      { providers: [{ provider: "vertex-ai", region: "us-centrl1" }], keys: [badKey] },
      ["providers[0].slug  is missing", regionFault, keyFault]
    ],
    [
      "a provider without a kind",
      { providers: [{ slug: "V", region: "us-centrl1" }], keys: [badKey] },
      [
        "providers[0].provider  is missing",
        'providers[0].slug  "V" is not a slug: lower-case letters, digits and "-", at most 63',
        regionFault,
        keyFault
      ]
    ],
    [
      "an invalid provider before a sound one",
      { providers: [5, { slug: "v", provider: "vertex-ai", region: "us-centrl1" }] },
      ["providers[0]  expected a mapping of keys", regionFault.replace("[0]", "[1]")]
    ],
    [
      "providers that are not a list",
      { providers: {}, keys: [{ ...badKey, providers: ["v"] }] },
      ["providers  expected a list", keyFault]
    ],
    [
      "a key without a name",
      {
        providers: [{ slug: "v", provider: "vertex-ai", region: "us-centrl1" }],
        keys: [{ key: "x", expires_at: "soon" }]
      },
      [
        "keys[0].name  is missing",
        regionFault,
        keyFault,
        'keys[0].expires_at  "soon" is not a moment such as 2027-01-31T12:00:00Z'
      ]
    ],
    [
      "a key without its text, whose list of slugs has a number in it",
      { keys: [{ name: "a", providers: [1, "gogle"], config: "fats" }], configs: { fast: {} } },
      [
        "keys[0].providers[0]  expected text",
        "keys[0].key  is missing",
        'keys[0].config  "fats" is no config of this configuration; did you mean fast?'
      ]
    ],
    [
      "a budget without its dollars",
      { keys: [{ ...badKey, budget: { per: "day" } }] },
      ["keys[0].budget.usd  is missing", keyFault]
    ],
    [
      "credentials of an unknown type",
      vertex({ region: "us-centrl1", credentials: { type: "acess_token", token: "sekret" } }),
      ['providers[0].credentials.type  "acess_token" is not known here; did you mean access_token?', regionFault]
    ],
    [
      "an unset variable",
      { providers: [{ slug: "${NOPE}", provider: "vertex-ai", region: "us-centrl1" }], keys: [badKey] },
      [
        "providers[0].slug  the environment variable NOPE is not set; set it, or write ${NOPE:-default}",
        regionFault,
        keyFault
      ]
    ],
    [
      "a config of a wrong shape",
      {
        configs: { fast: { strategy: { mode: "fallback" }, targets: [{ weight: "x" }, 5, { provider: "gogle" }] } },
        keys: [badKey]
      },
      [
        "configs.fast.targets[0].weight  expected a number",
        "configs.fast.targets[1]  expected a mapping of keys",
        keyFault,
        'configs.fast.targets[2]  "gogle" is no provider of this configuration; did you mean google?'
      ]
    ],
    [
      "a name of metadata that is refused (B20)",
      {
        keys: [
          {
            ...badKey,
            name: 1,
            metadata: Object.fromEntries([
              ["__proto__", "x"],
              ["constructor", "x"]
            ])
          }
        ]
      },
      [
        "keys[0].name  expected text",
        keyFault,
        "keys[0].metadata.__proto__  is no name for metadata",
        "keys[0].metadata.constructor  is no name for metadata"
      ]
    ]
  ])("settings: report every fault of %s", (_name, file, expected) => expect(faults(file)).toEqual(expected))

  it.each<readonly [string, Json, ReadonlyArray<string>]>([
    [
      "a key that names a provider of a wrong kind",
      {
        providers: [{ slug: "v", provider: "vertex" }],
        keys: [{ name: "a", key: "mgk_sekret", providers: ["v"] }],
        configs: { fast: { provider: "v" } },
        prompts: [{ id: "p", model: "@v/m", messages: [{ role: "user", content: "Hi" }] }]
      },
      ['providers[0].provider  "vertex" is not known here; did you mean vertex-ai?']
    ],
    [
      "a reference to a provider whose slug is missing",
      {
        providers: [{ provider: "google" }],
        keys: [{ name: "a", key: "mgk_sekret", providers: ["v"] }],
        configs: { fast: { provider: "v" } },
        prompts: [{ id: "p", model: "@v/m", messages: [{ role: "user", content: "Hi" }] }]
      },
      ["providers[0].slug  is missing"]
    ],
    [
      "a slug that is half a variable",
      {
        providers: [{ slug: "v-${NOPE}", provider: "google" }],
        keys: [{ name: "a", key: "mgk_sekret", providers: ["v-1"] }]
      },
      ["providers[0].slug  the environment variable NOPE is not set; set it, or write ${NOPE:-default}"]
    ],
    [
      "a key that names a config of a wrong shape",
      { configs: { fast: 5 }, keys: [{ name: "a", key: "mgk_sekret", config: "fast" }] },
      ["configs.fast  expected a mapping of keys"]
    ],
    [
      "a key that names a missing config",
      { configs: [], keys: [{ name: "a", key: "mgk_sekret", config: "fast" }] },
      ["configs  expected a mapping of keys"]
    ],
    [
      "keys of which two have no name and no text",
      { keys: [{}, {}] },
      ["keys[0].name  is missing", "keys[0].key  is missing", "keys[1].name  is missing", "keys[1].key  is missing"]
    ],
    [
      "a prompt that holds a partial without an id",
      { prompts: [{ text: "Hi" }, { id: "p", model: "m", messages: [{ role: "user", content: "{{>tone}}" }] }] },
      ["prompts[0].id  is missing"]
    ],
    [
      "a prompt that holds one with a text of another kind",
      {
        prompts: [
          { id: "tone", text: 5 },
          { id: "p", model: "m", messages: [{ role: "user", content: "{{>tone}}" }] }
        ]
      },
      ["prompts[0].text  expected text"]
    ],
    [
      "a strategy without its mode",
      { configs: { fast: { strategy: { mode: "fallbak" }, targets: [{}, {}] } } },
      ['configs.fast.strategy.mode  "fallbak" is not known here; did you mean fallback?']
    ]
  ])("settings: report no fault of its own for %s", (_name, file, expected) => expect(faults(file)).toEqual(expected))

  it("settings: a configuration of any shape is read to its end", () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    const sections = [
      "server",
      "store",
      "redis",
      "providers",
      "keys",
      "prompts",
      "configs",
      "prices",
      "log",
      "telemetry",
      "media",
      "limits"
    ]
    const section = fc.oneof(
      json,
      fc.array(json),
      fc.dictionary(fc.constantFrom("slug", "provider", "name", "key", "id", "strategy", "targets", "a"), json)
    )
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...sections), fc.oneof(section, fc.array(section))), (file) => {
        // The short key is a fault of meaning in a section that is sound.
        const all = faults({ ...file, keys: [badKey] })
        expect(all.includes(keyFault)).toBe(true)
        expect(new Set(all.map((line) => line.split("  ")[0])).size).toBe(all.length)
      }),
      { numRuns: runs(300) }
    )
  })
})

describe("faults of a configuration", () => {
  const table: ReadonlyArray<readonly [name: string, file: Json, expected: ReadonlyArray<string>]> = [
    ["a value that is not a mapping", ["a"], ["  the configuration must be a mapping of keys"]],
    ["an unknown section", { server: {}, provider: [] }, ["provider  unknown key; did you mean providers?"]],
    [
      "an unknown section unlike all others",
      { xyzzyxyzzy: 1 },
      [
        "xyzzyxyzzy  unknown key; known: server, store, redis, providers, keys, prompts, configs, prices, models, models_file, heal, defaults, aliases, attribution, log, telemetry, media, native, network, messages, responses, long_decode, limits"
      ]
    ],
    ["swapped letters", { server: { prot: 1 } }, ["server.prot  unknown key; did you mean port?"]],
    [
      "camelCase for snake_case",
      google({ apiKey: "sekret" }),
      ["providers[0].apiKey  unknown key; did you mean api_key?"]
    ],
    ["port out of range", { server: { port: 70000 } }, ["server.port  expected a whole number from 0 to 65535"]],
    ["port as word", { server: { port: "http" } }, ["server.port  expected a number"]],
    [
      "a host that is not an address",
      { server: { host: "http://x" } },
      ['server.host  "http://x" is not an address to listen on']
    ],
    [
      "an invalid Redis address",
      { redis: { url: "http://:sekret@x" } },
      ["redis.url  is not an address of the form redis://host:6379 or rediss://user:password@host:6380/0"]
    ],
    [
      "Redis at no port",
      { redis: { url: "redis://:sekret@x:99999" } },
      ["redis.url  is not an address of the form redis://host:6379 or rediss://user:password@host:6380/0"]
    ],
    ["section of another kind", { providers: {} }, ["providers  expected a list"]],
    ["item of another kind", { keys: ["sekret"] }, ["keys[0]  expected a mapping of keys"]],
    ["number for a secret", google({ api_key: 1234567 }), ["providers[0].api_key  expected text"]],
    ["empty text", google({ api_key: "" }), ["providers[0].api_key  must not be empty"]],
    ["missing fields", { providers: [{}] }, ["providers[0].slug  is missing", "providers[0].provider  is missing"]],
    [
      "unknown provider",
      { providers: [{ slug: "a", provider: "vertexai" }] },
      ['providers[0].provider  "vertexai" is not known here; did you mean vertex-ai?']
    ],
    [
      "bad slug (TH5)",
      { providers: [{ slug: "A/b", provider: "google" }] },
      ['providers[0].slug  "A/b" is not a slug: lower-case letters, digits and "-", at most 63']
    ],
    [
      "slug twice",
      {
        providers: [
          { slug: "a", provider: "google" },
          { slug: "a", provider: "google" }
        ]
      },
      ['providers[1].slug  "a" is declared twice']
    ],
    [
      "bad project (TH5)",
      vertex({ project_id: "My Project" }),
      ['providers[0].project_id  "My Project" is not a Google Cloud project id or number']
    ],
    [
      "bad quota project (TH5)",
      vertex({ quota_project: "x" }),
      ['providers[0].quota_project  "x" is not a Google Cloud project id or number']
    ],
    [
      "misspelt region",
      vertex({ region: "us-centrl1" }),
      ['providers[0].region  "us-centrl1" is not a region; did you mean us-central1?']
    ],
    [
      "region without number",
      vertex({ region: "europe-west" }),
      ['providers[0].region  "europe-west" is not a region; did you mean europe-west1?']
    ],
    [
      "region that names a host (TH5)",
      vertex({ region: "us#" }),
      ['providers[0].region  "us#" is not a region; did you mean us?']
    ],
    [
      "a region unlike all others (TH5)",
      vertex({ region: "evil.example/%2e" }),
      ['providers[0].region  "evil.example/%2e" is not a region, such as us-central1, global, us or eu']
    ],
    [
      "lists of what a request may name",
      vertex({
        projects: ["my-project", "*", "team-*", "X"],
        regions: ["europe-*", "us-centrl1"],
        gcs: { read: ["gs://bucket/a/", "bucket", "gs://bucket/../b"], write: ["gs://B"], wrote: [] }
      }),
      [
        "providers[0].gcs.wrote  unknown key; did you mean write?",
        'providers[0].projects[3]  "X" is not a Google Cloud project id or number',
        'providers[0].regions[1]  "us-centrl1" is not a region; did you mean us-central1?',
        'providers[0].gcs.read[1]  "bucket" is no prefix such as gs://bucket or gs://bucket/folder',
        'providers[0].gcs.read[2]  "gs://bucket/../b" is no prefix such as gs://bucket or gs://bucket/folder',
        'providers[0].gcs.write[0]  "gs://B" is no prefix such as gs://bucket or gs://bucket/folder'
      ]
    ],
    [
      "invalid prefixes",
      vertex({
        gcs: {
          read: ["gs://bucket", "gs://bucket/a/", "bucket", "gs://bucket/../b", "gs://bucket/%2E%2e/b"],
          write: ["gs://B"]
        }
      }),
      [
        'providers[0].gcs.read[2]  "bucket" is no prefix such as gs://bucket or gs://bucket/folder',
        'providers[0].gcs.read[3]  "gs://bucket/../b" is no prefix such as gs://bucket or gs://bucket/folder',
        'providers[0].gcs.read[4]  "gs://bucket/%2E%2e/b" is no prefix such as gs://bucket or gs://bucket/folder',
        'providers[0].gcs.write[0]  "gs://B" is no prefix such as gs://bucket or gs://bucket/folder'
      ]
    ],
    [
      "bad version",
      vertex({ api_version: "v1/../x" }),
      ['providers[0].api_version  "v1/../x" is not an API version such as v1 or v1beta']
    ],
    [
      "bad base URL",
      vertex({ base_url: "ftp://user:sekret@x" }),
      ["providers[0].base_url  expected an http or https URL without user, query or fragment"]
    ],
    [
      "Vertex AI fields on google",
      google({ region: "us-central1", project_id: "my-project" }),
      [
        "providers[0].project_id  has no meaning for provider google; it belongs to vertex-ai",
        "providers[0].region  has no meaning for provider google; it belongs to vertex-ai"
      ]
    ],
    [
      "key and credentials",
      vertex({ api_key: "sekret", credentials: { type: "application_default" } }),
      ["providers[0].credentials  give api_key or credentials, not both"]
    ],
    [
      "credentials of no type",
      vertex({ credentials: { file: "sa.json" } }),
      [
        "providers[0].credentials  type is missing; known: service_account, external_account, user, impersonated, access_token, application_default, api_key"
      ]
    ],
    [
      "credentials of unknown type (TH8)",
      vertex({ credentials: { type: "executable", credential_source: { url: "http://x" } } }),
      [
        'providers[0].credentials.type  "executable" is not known here; known: service_account, external_account, user, impersonated, access_token, application_default, api_key'
      ]
    ],
    [
      "text for credentials",
      vertex({ credentials: "sekret" }),
      [
        "providers[0].credentials  expected a mapping with type: service_account, external_account, user, impersonated, access_token, application_default, api_key"
      ]
    ],
    [
      "unknown key in credentials",
      vertex({ credentials: { type: "access_token", tokn: "sekret" } }),
      ["providers[0].credentials.tokn  unknown key; did you mean token?", "providers[0].credentials.token  is missing"]
    ],
    [
      "service account on google",
      google({ credentials: { type: "service_account", file: "sa.json" } }),
      ["providers[0].credentials  type service_account has no meaning for provider google; use api_key"]
    ],
    [
      "service account without source",
      vertex({ credentials: { type: "service_account" } }),
      ["providers[0].credentials  type service_account needs file or json"]
    ],
    [
      "service account twice",
      vertex({ credentials: { type: "service_account", file: "sa.json", json: {} } }),
      ["providers[0].credentials  give file or json, not both"]
    ],
    [
      "absent key file",
      vertex({ credentials: { type: "service_account", file: "gone.json" } }),
      ["providers[0].credentials  the credential file does not exist"]
    ],
    [
      "a key file that is not JSON",
      vertex({ credentials: { type: "service_account", file: "broken.json" } }),
      ["providers[0].credentials  the credential file does not hold JSON"]
    ],
    [
      "half a login of a user",
      vertex({ credentials: { type: "service_account", file: "half.json" } }),
      ["providers[0].credentials  The credentials of a user need client_id, client_secret and refresh_token."]
    ],
    [
      "a login of a user that bills no project",
      vertex({ credentials: { type: "service_account", file: "wrongQuota.json" } }),
      ["providers[0].credentials  The quota_project_id of the credentials is not a Google Cloud project id or number."]
    ],
    [
      "a key as text that is no JSON",
      vertex({ credentials: { type: "service_account", json: "{ sekret" } }),
      ["providers[0].credentials  json does not hold JSON"]
    ],
    [
      "a variable that is not set, next to faults of the same entry and of others",
      {
        providers: [
          { slug: "g", provider: "google", api_key: "${UNSET}", region: "nowhere" },
          { slug: "g", provider: "google", api_key: "${UNSET}", base_url: "ftp://x" },
          {
            slug: "v",
            provider: "vertex-ai",
            region: "nowhere",
            regions: ["${UNSET}", "nowhere"],
            credentials: { type: "access_token", token: "${UNSET}" }
          },
          {
            slug: "w",
            provider: "vertex-ai",
            api_key: "${UNSET}",
            credentials: { type: "service_account", file: "${UNSET}" }
          },
          { slug: "x", provider: "google", credentials: { type: "service_account", file: "${UNSET}" } },
          {
            slug: "y",
            provider: "vertex-ai",
            projects: ["a b"],
            credentials: { type: "service_account", json: { type: "service_account", private_key: "${UNSET}" } }
          }
        ],
        keys: [
          { name: "a", key: "${UNSET}", providers: ["nono", "${UNSET}"] },
          { name: "a", key: "${UNSET}" }
        ],
        aliases: { fast: "${UNSET}", slow: "@nono/gemini-2.5-flash" },
        native: { gemini: "${UNSET}" },
        configs: { f: { strategy: { mode: "fallback" }, targets: [{ provider: "${UNSET}" }, { provider: "nono" }] } }
      },
      [
        ...[
          "providers[0].api_key",
          "providers[1].api_key",
          "providers[2].regions[0]",
          "providers[2].credentials.token",
          "providers[3].api_key",
          "providers[3].credentials.file",
          "providers[4].credentials.file",
          "providers[5].credentials.json.private_key",
          "keys[0].key",
          "keys[0].providers[1]",
          "keys[1].key",
          "aliases.fast",
          "native.gemini",
          "configs.f.targets[0].provider"
        ].map((path) => `${path}  the environment variable UNSET is not set; set it, or write \${UNSET:-default}`),
        'providers[0].region  "nowhere" is not a region, such as us-central1, global, us or eu',
        'providers[1].slug  "g" is declared twice',
        "providers[1].base_url  expected an http or https URL without user, query or fragment",
        'providers[2].region  "nowhere" is not a region, such as us-central1, global, us or eu',
        'providers[2].regions[1]  "nowhere" is not a region, such as us-central1, global, us or eu',
        "providers[3].credentials  give api_key or credentials, not both",
        "providers[4].credentials  type service_account has no meaning for provider google; use api_key",
        'providers[5].projects[0]  "a b" is not a Google Cloud project id or number',
        'keys[0].providers[0]  "nono" is no provider of this configuration; known: g, g, v, w, x, y, vertex-ai, google',
        'keys[1].name  "a" is declared twice',
        'configs.f.targets[1]  "nono" is no provider of this configuration; known: g, g, v, w, x, y, vertex-ai, google',
        'aliases.slow  "nono" is no provider of this file, and one of the store cannot be named here; known: g, g, v, w, x, y, vertex-ai, google'
      ]
    ],
    [
      "endpoint",
      vertex({
        endpoints: { "a b": { dialect: "openai" }, c: { dialect: "opneai" }, d: { dialect: "openai", host: "x/y" } }
      }),
      [
        'providers[0].endpoints.c.dialect  "opneai" is not known here; did you mean openai?',
        'providers[0].endpoints.a b  is not an endpoint id: letters, digits and "-", at most 63',
        'providers[0].endpoints.d.host  "x/y" is not a host name'
      ]
    ],
    [
      "endpoint names and hosts (TH6)",
      vertex({ endpoints: { "a b": { dialect: "openai" }, d: { dialect: "openai", host: "x/y" } } }),
      [
        'providers[0].endpoints.a b  is not an endpoint id: letters, digits and "-", at most 63',
        'providers[0].endpoints.d.host  "x/y" is not a host name'
      ]
    ],
    [
      "short key",
      { keys: [{ name: "a", key: "sekret" }] },
      ["keys[0].key  must be 8 to 256 printable characters without spaces"]
    ],
    [
      "key of two names, name of two keys",
      {
        keys: [
          { name: "a", key: "mgk_sekret" },
          { name: "b", key: "mgk_sekret" },
          { name: "a", key: "mgk_sekret2" }
        ]
      },
      ["keys[1].key  is the key of another name as well", 'keys[2].name  "a" is declared twice']
    ],
    [
      "config of a wrong shape",
      { configs: { fast: { strategy: { mode: "fallbak" }, targts: [] }, "a b": { retry: { attempts: 9 } }, none: 1 } },
      [
        "configs.fast.targts  unknown key; did you mean targets?",
        'configs.fast.strategy.mode  "fallbak" is not known here; did you mean fallback?',
        "configs.a b.retry.attempts  expected a whole number from 0 to 5",
        "configs.none  expected a mapping of keys",
        'configs.a b  is not an id: letters, digits, "_", "." and "-", at most 64'
      ]
    ],
    [
      "config that cannot work",
      {
        configs: {
          "a b": {},
          fast: {
            strategy: { mode: "fallback" },
            targets: [{ provider: "gogle" }, { override_params: { model: "@vrtex/x" } }]
          }
        }
      },
      [
        'configs.a b  is not an id: letters, digits, "_", "." and "-", at most 64',
        'configs.fast.targets[0]  "gogle" is no provider of this configuration; did you mean google?',
        'configs.fast.targets[1]  "vrtex" is no provider of this configuration; known: vertex-ai, google'
      ]
    ],
    [
      "key of an unknown config",
      { configs: { fast: {} }, keys: [{ name: "a", key: "mgk_sekret", config: "fats" }] },
      ['keys[0].config  "fats" is no config of this configuration; did you mean fast?']
    ],
    [
      "a key for an unknown config or prompt",
      {
        configs: { fast: {} },
        prompts: [{ id: "tone", text: "Be brief." }],
        keys: [{ name: "a", key: "mgk_sekret", configs: ["fast", "fats", "f*"], prompts: ["tome", "tone", "*"] }]
      },
      [
        'keys[0].configs[1]  "fats" is no config of this configuration; did you mean fast?',
        'keys[0].prompts[0]  "tome" is no prompt of this configuration; did you mean tone?'
      ]
    ],
    [
      "a key for an unknown provider",
      { keys: [{ name: "a", key: "mgk_sekret", providers: ["gogle", "google", "vert*"] }] },
      ['keys[0].providers[0]  "gogle" is no provider of this configuration; did you mean google?']
    ],
    [
      "a limit of zero",
      { limits: { bodyBytes: 0 } },
      ["limits.bodyBytes  expected a whole number from 1 to 2147483647"]
    ],
    ["limit with a typo", { limits: { idleMilis: 1 } }, ["limits.idleMilis  unknown key; did you mean idleMillis?"]],
    [
      "an unknown scope",
      { keys: [{ name: "a", key: "mgk_sekret", scopes: ["admn"] }] },
      ['keys[0].scopes[0]  "admn" is not known here; did you mean admin?']
    ],
    [
      "an unknown log format",
      { log: { format: "xml" } },
      ['log.format  "xml" is not known here; known: json, pretty, off']
    ],
    [
      "a negative price",
      { prices: { "gemini-2.5-flash": { input: -1 } } },
      ["prices.gemini-2.5-flash.input  expected US dollars from 0 to 1000000"]
    ],
    [
      "a budget beyond the largest number",
      { keys: [{ name: "a", key: "mgk_sekret", budget: { usd: 1e15, per: "day" } }] },
      ["keys[0].budget.usd  expected US dollars from 0 to 1000000000"]
    ],
    ["price with a typo", { prices: { x: { inptu: 1 } } }, ["prices.x.inptu  unknown key; did you mean input?"]],
    [
      "typo in a list of prices",
      { prices: { x: [{ fron: 1 }] } },
      ["prices.x[0].fron  unknown key; did you mean from?"]
    ],
    [
      "a price from a day that is none",
      { prices: { x: { from: "2026-02-30" } } },
      ["prices.x.from  expected a day such as 2027-01-31"]
    ],
    ["prices that are no mapping", { prices: { x: 1 } }, ["prices.x  expected a mapping of keys or a list"]],
    [
      "two prices of one day",
      { prices: { x: [{}, { from: "2026-12-01" }, { from: "2026-12-01" }, {}] } },
      [
        'prices.x[2].from  "2026-12-01" begins another price of this model; keep one',
        "prices.x[3]  has no from, as an earlier price of this model; state the day it begins"
      ]
    ],
    [
      "unset variable",
      google({ api_key: "${NOPE}" }),
      ["providers[0].api_key  the environment variable NOPE is not set; set it, or write ${NOPE:-default}"]
    ],
    [
      "bad variable",
      google({ api_key: "${sekret key}" }),
      ["providers[0].api_key  expected ${NAME} or ${NAME:-default}"]
    ],
    [
      "several faults of every kind together",
      {
        sevrer: {},
        ...Object.fromEntries([
          ["providers", [{ slug: "v", provider: "vertex-ai", region: "us-centrl1", aip_key: 1 }]]
        ]),
        keys: [{ name: "a", key: "x" }]
      },
      [
        "sevrer  unknown key; did you mean server?",
        "providers[0].aip_key  unknown key; did you mean api_key?",
        'providers[0].region  "us-centrl1" is not a region; did you mean us-central1?',
        "keys[0].key  must be 8 to 256 printable characters without spaces"
      ]
    ]
  ]
  it.each<readonly [string, Json, ReadonlyArray<string>]>([
    ["a field", { "gemini-5-*": { contxt: 5 } }, ["models.gemini-5-*.contxt  unknown key; did you mean context?"]],
    ["a value", { a: { stage: "gaa" } }, ['models.a.stage  "gaa" is not known here; did you mean ga?']],
    [
      "a level",
      { a: { thinking: { levels: ["hi"] } } },
      ['models.a.thinking.levels[0]  "hi" is not known here; known: minimal, low, medium, high, xhigh, max']
    ],
    ["a day", { a: { release: "soon" } }, ["models.a.release  expected a day such as 2027-01-31"]],
    ["a key", { "a b": {} }, ['models.a b  "a b" is not a model id, with * for any part']],
    [
      "inherits",
      { a: { inherits: "gemini-4-noen" } },
      ['models.a.inherits  "gemini-4-noen" is not a known model; did you mean gemini-4-neon?']
    ]
  ])("models: a wrong %s is a fault that names it (M-102)", (_, models, expected) => {
    expect(faults({ models })).toEqual(expected)
  })

  it("models_file: a fault names the file and the place in it (M-102)", () => {
    expect(["gone.yaml", "broken.yaml", "wrong.yaml"].flatMap((models_file) => faults({ models_file }))).toEqual([
      "models_file  the credential file does not exist",
      "models_file  broken.yaml:1  cannot be read: Expected ':' in a flow collection",
      "models_file  wrong.yaml  gemini-5-*.contxt  unknown key; did you mean context?"
    ])
  })

  it("models and models_file: the configuration replaces what the file states of the same id (M-102)", () => {
    const { models } = settings({ models_file: "models.yaml", models: { "claude-opus-5-5": { context: 7 } } })
    expect(models).toEqual({
      "claude-opus-5-5": { context: 7 },
      "gemini-5-*": { inherits: "gemini-4-neon", context: 5 }
    })
    expect(settings({}).models).toBe(undefined)
  })

  it.each(table)("settings: report the fault: %s", (_, file, expected) => {
    expect(faults(file)).toEqual(expected)
  })

  it("faults: name the variable or flag a value came from", () => {
    expect(faults({ server: { port: 1 } }, { GATEWAY_SERVER_PORT: "http", GATEWAY_LIMITS_JSON_DEPTH: "-1" })).toEqual([
      "GATEWAY_SERVER_PORT  expected a number",
      "GATEWAY_LIMITS_JSON_DEPTH  expected a number"
    ])
    expect(faults({}, { GATEWAY_SERVER_HOST: "a b" })).toEqual([
      'GATEWAY_SERVER_HOST  "a b" is not an address to listen on'
    ])
    expect(faults({}, { GATEWAY_SERVER_PORT: "1" }, { port: 99999 })).toEqual([
      "--port  expected a whole number from 0 to 65535"
    ])
    expect(
      faults({}, { GOOGLE_CLOUD_LOCATION: "us-eest1", GOOGLE_CLOUD_PROJECT: "X", GATEWAY_GEMINI_BASE_URL: "x" })
    ).toEqual([
      'GOOGLE_CLOUD_PROJECT  "X" is not a Google Cloud project id or number',
      'GOOGLE_CLOUD_LOCATION  "us-eest1" is not a region; did you mean us-east1?',
      "GATEWAY_GEMINI_BASE_URL  expected an http or https URL without user, query or fragment"
    ])
    expect(faults({}, { GOOGLE_APPLICATION_CREDENTIALS: "/gone" })).toEqual([
      "GOOGLE_APPLICATION_CREDENTIALS  the credential file does not exist"
    ])
    expect(faults({}, { GATEWAY_API_KEY: "sekret" })).toEqual([
      "GATEWAY_API_KEY  must be 8 to 256 printable characters without spaces"
    ])
  })

  it("faults: quote no secret, whichever other values are wrong", () => {
    const secret = "sEkReT-0123456789"
    const places: ReadonlyArray<Json> = [
      google({ api_key: [secret] }),
      google({ api_key: secret, bogus: 1 }),
      google({ credentials: secret }),
      vertex({ credentials: { type: "access_token", token: { a: secret } } }),
      vertex({ credentials: { type: "service_account", json: { ...serviceAccount, private_key: secret } } }),
      vertex({ credentials: { type: "service_account", json: { ...serviceAccount, type: secret.slice(0, 0) } } }),
      { keys: [{ name: "a", key: `${secret} ` }] },
      { keys: [{ name: "a", key: [secret] }] },
      { keys: [secret] }
    ]
    for (const place of places) {
      const lines = faults(place, { GATEWAY_API_KEY: `${secret} ` })
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.filter((line) => line.includes("sEkReT"))).toEqual([])
    }
  })

  it("readSettings: any JSON gives settings or faults", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const file: Json = JSON.parse(JSON.stringify(value))
        expect(Result.isResult(read(file))).toBe(true)
        expect(Result.isResult(read({ providers: file, keys: file, server: file, limits: file }))).toBe(true)
        expect(Result.isResult(read({ providers: [file], keys: [file] }))).toBe(true)
      })
    )
  })
})

describe("sources of settings", () => {
  it("empty settings: are the defaults and the two built-in slugs", () => {
    expect(settings(null)).toStrictEqual({
      server: { host: "127.0.0.1", port: 8787 },
      accounts: [
        { ...bare, slug: "vertex-ai", kind: "vertex-ai" },
        { ...bare, slug: "google", kind: "google" }
      ],
      keys: [],
      limits: defaultLimits,
      configs: {}
    })
    expect(settings({ providers: null, keys: null, server: null })).toStrictEqual(settings(null))
  })

  it("settings: GATEWAY_REDIS_URL wins over REDIS_URL, over the file; none of them is printed", () => {
    const address = (name: string) => `rediss://user:sekret%2F1@${name}:6380/2`
    const file = { redis: { url: address("file") } }
    expect(settings({}).redis).toBe(undefined)
    expect(settings({}, { REDIS_URL: address("a") }).redis).toEqual(Redacted.make(address("a")))
    expect(settings(file).redis).toEqual(Redacted.make(address("file")))
    expect(settings(file, { REDIS_URL: address("a") }).redis).toEqual(Redacted.make(address("a")))
    expect(settings(file, { REDIS_URL: address("a"), GATEWAY_REDIS_URL: address("b") }).redis).toEqual(
      Redacted.make(address("b"))
    )
    expect(JSON.stringify(settings(file))).not.toContain("sekret")
  })

  it("settings: long answers are followed unless the configuration turns it off (M-601)", () => {
    expect(settings({ long_decode: "on" }).limits).toEqual(defaultLimits)
    expect(settings({ long_decode: "off" }).limits).toEqual({ ...defaultLimits, longDecodeCalls: 1 })
    expect(settings({ limits: { longDecodeCalls: 4 } }).limits).toEqual({ ...defaultLimits, longDecodeCalls: 4 })
  })

  it("settings: a flag wins over GATEWAY_*, over PORT, over the file, over the default", () => {
    const file = { server: { host: "10.0.0.1", port: 1 }, limits: { jsonDepth: 5 } }
    const env = { PORT: "2", GATEWAY_SERVER_PORT: "3", GATEWAY_SERVER_HOST: "0.0.0.0", GATEWAY_LIMITS_JSON_DEPTH: "6" }
    expect(settings({}).server).toEqual({ host: "127.0.0.1", port: 8787 })
    expect(settings(file).server).toEqual({ host: "10.0.0.1", port: 1 })
    expect(settings(file, { PORT: "2" }).server).toEqual({ host: "10.0.0.1", port: 2 })
    expect(settings(file, env).server).toEqual({ host: "0.0.0.0", port: 3 })
    expect(settings(file, env, { host: "::1", port: 4 }).server).toEqual({ host: "::1", port: 4 })
    expect(settings(file, env).limits).toEqual({ ...defaultLimits, jsonDepth: 6 })
    expect(settings(file, { GATEWAY_SERVER_PORT: "" }).server.port).toBe(1)
  })

  it("settings: every limit has a variable", () => {
    expect(variableOf("limits", "bodiesInFlightBytes")).toBe("GATEWAY_LIMITS_BODIES_IN_FLIGHT_BYTES")
    // The number of heals is bounded by 4; all other limits take any of these numbers.
    const values = Object.keys(defaultLimits).map((name, index) => (name === "heals" ? 4 : index + 1))
    const env = Object.fromEntries(
      Object.keys(defaultLimits).map((name, index) => [variableOf("limits", name), String(values[index])])
    )
    expect(Object.values(settings({}, env).limits)).toEqual(values)
  })

  it("settings: ${NAME} and ${NAME:-default} are replaced in every text, and where a number belongs", () => {
    const file = {
      server: { port: "${P:-99}", host: "${H}" },
      providers: [{ slug: "g", provider: "google", api_key: "a${K}b${L:-}c" }]
    }
    const read = settings(file, { H: "::1", K: "1234" })
    expect(read.server).toEqual({ host: "::1", port: 99 })
    const stored = read.accounts[0]?.credentials
    expect(stored?._tag === "ApiKey" && Redacted.value(stored.key)).toBe("a1234bc")
    expect(settings(google({ api_key: "${K:-http://x}" }), { K: "" }).accounts[0]?.credentials).toEqual({
      _tag: "ApiKey",
      key: Redacted.make("http://x")
    })
  })

  it("settings: standard provider variables fill the built-in slugs", () => {
    const env = {
      GEMINI_API_KEY: "gem",
      GOOGLE_API_KEY: "goo",
      GOOGLE_CLOUD_PROJECT: "my-project",
      GOOGLE_CLOUD_LOCATION: "europe-west4",
      GOOGLE_APPLICATION_CREDENTIALS: "/run/sa.json",
      GATEWAY_VERTEX_BASE_URL: "http://127.0.0.1:1",
      GATEWAY_GEMINI_BASE_URL: "http://127.0.0.1:2",
      GATEWAY_TOKEN_URL: "http://127.0.0.1:3/token"
    }
    const { accounts, applicationCredentialsFile } = settings({}, env)
    expect(applicationCredentialsFile).toBe("/run/sa.json")
    expect(accounts).toEqual([
      {
        ...bare,
        slug: "vertex-ai",
        kind: "vertex-ai",
        project_id: "my-project",
        region: "europe-west4",
        base_url: "http://127.0.0.1:1",
        token_url: "http://127.0.0.1:3/token",
        credentials: {
          _tag: "ServiceAccount",
          key: {
            clientEmail: serviceAccount.client_email,
            privateKeyId: "k1",
            projectId: "sa-project",
            privateKey:
              accounts[0]?.credentials?._tag === "ServiceAccount" ? accounts[0].credentials.key.privateKey : undefined
          }
        }
      },
      {
        ...bare,
        slug: "google",
        kind: "google",
        base_url: "http://127.0.0.1:2",
        credentials: { _tag: "ApiKey", key: Redacted.make("gem") }
      }
    ])
    expect(settings({}, { GOOGLE_API_KEY: "goo" }).accounts[1]?.credentials).toEqual({
      _tag: "ApiKey",
      key: Redacted.make("goo")
    })
  })

  const ofUser = {
    _tag: "AuthorizedUser",
    user: {
      clientId: "id",
      clientSecret: Redacted.make("sekret", { label: "client secret" }),
      refreshToken: Redacted.make("sekret too", { label: "refresh token" }),
      quotaProject: "my-billing"
    }
  }

  it("settings: a credential is a file of a key or a login, or its content as a mapping or one text", () => {
    const credentialOf = (credentials: Json, env: Record<string, string> = {}) =>
      settings(vertex({ credentials }), env).accounts[0]?.credentials
    expect(credentialOf({ type: "service_account", file: "user.json" })).toEqual(ofUser)
    expect(credentialOf({ type: "service_account", json: userLogin })).toEqual(ofUser)
    expect(credentialOf({ type: "service_account", json: "${SA}" }, { SA: JSON.stringify(userLogin) })).toEqual(ofUser)
    const key = credentialOf({ type: "service_account", file: "sa.json" })
    expect(key?._tag).toBe("ServiceAccount")
    expect(credentialOf({ type: "service_account", json: serviceAccount })).toEqual(key)
    expect(credentialOf({ type: "service_account", json: "${SA}" }, { SA: JSON.stringify(serviceAccount) })).toEqual(
      key
    )
  })

  it("settings: an impersonated service account has a source, delegates, scopes and a lifetime (K2)", () => {
    const credentialOf = (more: object) =>
      judge(vertex({ credentials: { type: "impersonated", service_account: "x@y.iam.gserviceaccount.com", ...more } }))
    const impersonation = {
      url: "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/x@y.iam.gserviceaccount.com:generateAccessToken",
      delegates: [],
      lifetimeSeconds: undefined
    }
    expect(credentialOf({}).settings?.accounts[0]?.credentials).toEqual({
      _tag: "Impersonated",
      source: { _tag: "ApplicationDefault" },
      impersonation,
      quotaProject: undefined
    })
    expect(
      credentialOf({
        source: { type: "user", file: "user.json" },
        delegates: ["d@y.iam.gserviceaccount.com"],
        scopes: ["https://www.googleapis.com/auth/cloud-platform"],
        lifetime: 900
      }).settings?.accounts[0]?.credentials
    ).toEqual({
      _tag: "Impersonated",
      source: ofUser,
      impersonation: {
        ...impersonation,
        delegates: ["projects/-/serviceAccounts/d@y.iam.gserviceaccount.com"],
        scopes: ["https://www.googleapis.com/auth/cloud-platform"],
        lifetimeSeconds: 900
      },
      quotaProject: undefined
    })
    expect(credentialOf({ delegates: ["../x"] }).faults.map(({ message }) => message)).toEqual([
      '"../x" is not the address of a service account'
    ])
  })

  it("settings: a credential that cannot be used stops its account only", () => {
    const { faults: found, settings: left } = judge(
      vertex({ credentials: { type: "service_account", file: "gone" } }),
      {
        GEMINI_API_KEY: "gem"
      }
    )
    expect(found).toEqual([
      {
        path: "providers[0].credentials",
        message: "the credential file does not exist",
        at: ["providers", 0, "credentials"],
        isOfCredential: true
      }
    ])
    expect(left?.accounts.map(({ credentials, slug }) => [slug, credentials?._tag])).toEqual([
      ["v", undefined],
      ["vertex-ai", undefined],
      ["google", "ApiKey"]
    ])
    const ambient = judge(google({ api_key: "own" }), { GOOGLE_APPLICATION_CREDENTIALS: "/run/wif.json" })
    expect(ambient.faults).toEqual([
      {
        path: "GOOGLE_APPLICATION_CREDENTIALS",
        message: 'Credentials of type "impersonated_service_account": source_credentials is missing.',
        at: undefined,
        isOfCredential: true
      }
    ])
    expect(ambient.settings?.accounts.map(({ credentials, slug }) => [slug, credentials?._tag])).toEqual([
      ["g", "ApiKey"],
      ["vertex-ai", undefined],
      ["google", undefined]
    ])
    expect(judge(vertex({ region: "nowhere", credentials: { type: "service_account", file: "gone" } })).settings).toBe(
      undefined
    )
  })

  it("settings: the environment makes no account of a kind that the file declares", () => {
    const env = {
      GEMINI_API_KEY: "gem",
      GOOGLE_APPLICATION_CREDENTIALS: "/run/sa.json",
      GOOGLE_CLOUD_PROJECT: "my-project",
      GOOGLE_CLOUD_LOCATION: "europe-west4",
      GATEWAY_GEMINI_BASE_URL: "http://127.0.0.1:2"
    }
    const google = { slug: "gemini", provider: "google", api_key: "own", base_url: "https://own" }
    const vertex = { slug: "cloud", provider: "vertex-ai", credentials: { type: "application_default" } }
    expect(settings({ providers: [google, vertex] }, env).accounts.slice(2)).toEqual([
      { ...bare, slug: "vertex-ai", kind: "vertex-ai" },
      { ...bare, slug: "google", kind: "google", base_url: "http://127.0.0.1:2" }
    ])
    expect(settings({ providers: [google] }, env).accounts[1]).toMatchObject({
      slug: "vertex-ai",
      project_id: "my-project",
      region: "europe-west4",
      credentials: { _tag: "ServiceAccount" }
    })
  })

  it("settings: a user's own login is used only where the operator named its file (TH9)", () => {
    expect(settings({}, { GOOGLE_APPLICATION_CREDENTIALS: "/run/user.json" }).accounts[0]?.credentials).toEqual(ofUser)
    expect(settings(vertex({}), { GOOGLE_APPLICATION_CREDENTIALS: "/run/user.json" }).accounts[0]?.credentials).toBe(
      undefined
    )
    expect(settings(vertex({ credentials: { type: "application_default" } })).accounts[0]?.credentials).toEqual({
      _tag: "ApplicationDefault"
    })
  })

  it("settings: a declared built-in slug keeps its own credential; GATEWAY_* still wins on its project and region", () => {
    const file = { providers: [{ slug: "google", provider: "google", api_key: "own", base_url: "https://own" }] }
    expect(settings(file, { GEMINI_API_KEY: "gem", GATEWAY_GEMINI_BASE_URL: "https://env" }).accounts).toEqual([
      {
        ...bare,
        slug: "google",
        kind: "google",
        base_url: "https://env",
        credentials: { _tag: "ApiKey", key: Redacted.make("own") }
      },
      { ...bare, slug: "vertex-ai", kind: "vertex-ai" }
    ])
    const open = { providers: [{ slug: "google", provider: "google", models: ["gemini-*"] }] }
    expect(settings(open, { GEMINI_API_KEY: "gem" }).accounts[0]).toEqual({
      ...bare,
      slug: "google",
      kind: "google",
      models: ["gemini-*"],
      credentials: { _tag: "ApiKey", key: Redacted.make("gem") }
    })
  })

  it("settings: a provider may have every field", () => {
    const file = vertex({
      region: "us-east99",
      quota_project: "my-billing",
      api_version: "v1beta1",
      models: ["gemini-2.5-flash"],
      credentials: { type: "service_account", file: "sa.json" },
      endpoints: { "my-llm": { dialect: "openai", host: "1.us-central1-2.prediction.vertexai.goog", model: "m" } },
      base_url: "https://private.example/base",
      token_url: "https://private.example/token",
      projects: ["other-project"],
      regions: ["europe-*"],
      gcs: { read: ["gs://bucket/a"] }
    })
    const [first] = settings(file).accounts
    expect({ ...first, credentials: first?.credentials?._tag }).toEqual({
      slug: "v",
      kind: "vertex-ai",
      origin: "stored",
      project_id: "sa-project",
      region: "us-east99",
      credentials: "ServiceAccount",
      models: ["gemini-2.5-flash"],
      api_version: "v1beta1",
      quota_project: "my-billing",
      endpoints: { "my-llm": { dialect: "openai", host: "1.us-central1-2.prediction.vertexai.goog", model: "m" } },
      base_url: "https://private.example/base",
      token_url: "https://private.example/token",
      projects: ["other-project"],
      regions: ["europe-*"],
      gcs: { read: ["gs://bucket/a"], write: undefined }
    })
  })

  it("settings: keys of the file and of GATEWAY_API_KEY are both accepted", () => {
    const file = { keys: [{ name: "ci", key: "mgk_ci_key", providers: ["google"], models: ["gemini-*"] }] }
    expect(settings(file, { GATEWAY_API_KEY: "mgk_env_key" }).keys).toEqual([
      { name: "ci", key: Redacted.make("mgk_ci_key"), providers: ["google"], models: ["gemini-*"] },
      {
        name: "environment",
        key: Redacted.make("mgk_env_key"),
        scopes: ["inference"]
      }
    ])
  })

  it("settings: a key may be limited in rate, money and time", () => {
    const written = {
      name: "ci",
      key: "mgk_ci_key",
      expires_at: "2027-01-31T12:00:00+01:00",
      rate_limit: { requests_per_minute: 600, tokens_per_minute: 1_000_000, requests_burst: 20, tokens_burst: 5000 },
      budget: { usd: 0.1, per: "month" as const },
      metadata: { team: "search" }
    }
    expect(settings({ keys: [written] }).keys).toEqual([
      {
        name: "ci",
        key: Redacted.make("mgk_ci_key"),
        expires_at: "2027-01-31T12:00:00+01:00",
        rate_limit: { requests_per_minute: 600, tokens_per_minute: 1_000_000, requests_burst: 20, tokens_burst: 5000 },
        budget: { usd: 0.1, per: "month" },
        metadata: { team: "search" }
      }
    ])
    expect(compileKey("ci", written)).toMatchObject({ expiresMillis: Date.UTC(2027, 0, 31, 11), scopes: ["inference"] })
    expect(
      faults({ keys: [{ ...written, rate_limit: { tokens_per_minute: 9, requests_burst: 3, tokens_burst: 0 } }] })
    ).toEqual([
      "keys[0].rate_limit.tokens_burst  expected a whole number from 1 to 2147483647",
      "keys[0].rate_limit.requests_burst  needs a limit: set rate_limit.requests_per_minute too"
    ])
    expect(faults({ keys: [{ ...written, expires_at: "tomorrow" }] })).toEqual([
      'keys[0].expires_at  "tomorrow" is not a moment such as 2027-01-31T12:00:00Z'
    ])
  })

  it("settings: an admin key comes from the file or from GATEWAY_ADMIN_KEY", () => {
    const file = { keys: [{ name: "ops", key: "mgk_ops_key", scopes: ["inference", "admin"] }] }
    expect(settings(file, { GATEWAY_ADMIN_KEY: "mgk_admin_key" }).keys).toEqual([
      {
        name: "ops",
        key: Redacted.make("mgk_ops_key"),
        scopes: ["inference", "admin"]
      },
      { name: "admin", key: Redacted.make("mgk_admin_key"), scopes: ["admin"] }
    ])
    expect(faults({}, { GATEWAY_ADMIN_KEY: "short" })).toEqual([
      "GATEWAY_ADMIN_KEY  must be 8 to 256 printable characters without spaces"
    ])
  })

  it("settings: exporters are set by OTEL_* alone", () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
    expect(settings({}, env).export).toEqual({
      traces: true,
      metrics: { intervalMillis: undefined, isDelta: false },
      endpoints: { traces: "http://127.0.0.1:4318", metrics: "http://127.0.0.1:4318" },
      content: false,
      isNamed: false
    })
    expect(faults({}, { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }).map((fault) => fault.split("  ")[0])).toEqual([
      "OTEL_EXPORTER_OTLP_PROTOCOL"
    ])
  })

  it("settings: log format: a flag wins over a variable, over the file", () => {
    const file = { log: { format: "pretty", level: "warn" } }
    const env = { GATEWAY_LOG_FORMAT: "off", GATEWAY_LOG_LEVEL: "error" }
    expect(settings(file).log).toEqual({ format: "pretty", level: "warn" })
    expect(settings(file, env).log).toEqual({ format: "off", level: "error" })
    expect(settings(file, env, { logFormat: "json", logLevel: "info" }).log).toEqual({ format: "json", level: "info" })
    expect(faults({}, { GATEWAY_LOG_LEVEL: "loud" })).toEqual([
      'GATEWAY_LOG_LEVEL  "loud" is not known here; known: info, warn, error'
    ])
  })

  it("settings: accept a port for operators, and keys as metric labels", () => {
    expect(settings({ server: { admin_port: 9090 }, telemetry: { key_label: true } })).toMatchObject({
      server: { host: "127.0.0.1", port: 8787, admin: { host: "127.0.0.1", port: 9090 } },
      keyLabel: true
    })
    expect(
      settings({}, { GATEWAY_SERVER_ADMIN_PORT: "9090", GATEWAY_SERVER_ADMIN_HOST: "10.0.0.1" }).server.admin
    ).toEqual({ host: "10.0.0.1", port: 9090 })
    expect(faults({ server: { admin_port: 8787 } })).toEqual(["server.admin_port  is the port of the API itself"])
    expect(faults({ server: { admin_host: "a b", admin_port: 1 } })).toEqual([
      'server.admin_host  "a b" is not an address to listen on'
    ])
    expect(faults({ server: { admin_host: "::1" } })).toEqual([
      "server.admin_host  has no meaning without an admin_port"
    ])
  })

  it("settings: media are fetched when the operator enables it", () => {
    expect([settings({}).media, settings({ media: {} }).media]).toEqual([undefined, undefined])
    expect(settings({ media: { fetch: true } }).media).toEqual({ fetch: true })
    expect(settings({ media: { fetch: true } }, { GATEWAY_MEDIA_FETCH: "false" }).media).toEqual({ fetch: false })
    expect(settings({ media: { fetch: "${YES}" } }, { YES: "true" }).media).toEqual({ fetch: true })
    expect(faults({ media: { fetch: 1 } }).map((fault) => fault.split("  ")[0])).toEqual(["media.fetch"])
    expect(faults({}, { GATEWAY_MEDIA_FETCH: "yes" }).map((fault) => fault.split("  ")[0])).toEqual([
      "GATEWAY_MEDIA_FETCH"
    ])
    expect(faults({ media: { hosts: [] } })).toEqual(["media.hosts  unknown key; known: fetch"])
  })

  it("settings: messages serve other models when the operator allows it (D103)", () => {
    const file = { messages: { other_models: "translate" } }
    expect([settings({}).messages, settings({ messages: {} }).messages]).toEqual([undefined, undefined])
    expect(settings(file).messages).toEqual({ otherModels: "translate" })
    expect(settings(file, { GATEWAY_MESSAGES_OTHER_MODELS: "refuse" }).messages).toEqual({ otherModels: "refuse" })
    expect(faults({}, { GATEWAY_MESSAGES_OTHER_MODELS: "yes" }).map((fault) => fault.split("  ")[0])).toEqual([
      "GATEWAY_MESSAGES_OTHER_MODELS"
    ])
  })

  it("settings: accept origins whose web pages may call", () => {
    const origins = ["https://app.example.com", "http://localhost:5173", "*"]
    expect(settings({ server: { cors: origins } }).server).toEqual({ host: "127.0.0.1", port: 8787, cors: origins })
    expect(settings({ server: { cors: [] } }).server).toEqual({ host: "127.0.0.1", port: 8787 })
    expect(
      settings(
        { server: { cors: ["https://file.example"] } },
        { GATEWAY_SERVER_CORS: "https://a.example, https://b.example," }
      ).server.cors
    ).toEqual(["https://a.example", "https://b.example"])
    expect(faults({ server: { cors: ["https://app.example.com/", "app.example.com", "null"] } })).toEqual([
      'server.cors[0]  "https://app.example.com/" is not an origin such as https://app.example.com, or *',
      'server.cors[1]  "app.example.com" is not an origin such as https://app.example.com, or *',
      'server.cors[2]  "null" is not an origin such as https://app.example.com, or *'
    ])
    expect(faults({}, { GATEWAY_SERVER_CORS: "app.example.com" })).toEqual([
      'GATEWAY_SERVER_CORS  "app.example.com" is not an origin such as https://app.example.com, or *'
    ])
  })

  it("settings: accept prices, accounting and metrics access", () => {
    const whole = {
      input: 1,
      output: 2,
      cached_input: 3,
      cache_write: 4,
      audio_input: 5,
      audio_output: 6,
      image_output: 7,
      image: 8
    }
    const read = settings({
      server: { metrics_auth: "admin" },
      prices: {
        "my-llm": { output: 0 },
        "vertex-ai/x": whole,
        "my-llm-2": [{ cached_input: 1 }, { from: "2026-12-01", cached_input: 2 }]
      },
      telemetry: { accounting: false, propagate_upstream: true }
    })
    expect(read.server).toEqual({ host: "127.0.0.1", port: 8787, metricsAuth: "admin" })
    expect(read.prices).toEqual({
      "my-llm": { output: 0 },
      "vertex-ai/x": {
        input: 1,
        output: 2,
        cached_input: 3,
        cache_write: 4,
        audio_input: 5,
        audio_output: 6,
        image_output: 7,
        image: 8
      },
      "my-llm-2": [{ cached_input: 1 }, { from: "2026-12-01", cached_input: 2 }]
    })
    expect([read.accounting, read.propagateUpstream]).toEqual([false, true])
    expect(settings({}, { GATEWAY_SERVER_METRICS_AUTH: "none" }).server.metricsAuth).toBe("none")
  })
})
