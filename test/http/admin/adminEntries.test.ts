// Tests every resource and verb of the admin API through the whole service: permission, exact answers, no secrets.
// Must not depend on how the entries are stored.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Resources from "../../../src/api/AdminResources.ts"
import { adminKey } from "../../support/accounted.ts"
import { until } from "../../support/eventually.ts"
import { gatewayOver, replying, type ScriptedGateway } from "../../support/scripted.ts"
import { gatewayKey, serviceAccount } from "../../support/TestGateway.ts"

type Json = ReturnType<typeof JSON.parse>
interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

const canary = "AIzaCanary0000000000000000000000000wxyz"
const reply = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}

const keys = [
  { name: "test", key: Redacted.make(gatewayKey) },
  { name: "boss", key: Redacted.make(adminKey), scopes: ["admin" as const] }
]

let gateway: ScriptedGateway
beforeEach(() => {
  gateway = gatewayOver(({ url }) => replying(url.includes(":countTokens") ? { totalTokens: 1 } : reply), {
    settings: { keys }
  })
})
afterEach(() => gateway.dispose())

const exactly = <S extends Schema.Constraint>(schema: Schema.Codec<S["Type"], unknown>) =>
  Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })
/** Throws at an answer that is not as the contract declares it. */
const declared: Readonly<Record<string, (value: unknown) => unknown>> = {
  provider: exactly(Resources.Provider),
  key: exactly(Resources.Key),
  config: exactly(Resources.Config),
  prompt: exactly(Resources.Prompt),
  provider_test: exactly(Resources.ProviderCheck),
  audit_entry: exactly(Resources.Change),
  request: exactly(Resources.AdminRequest),
  usage: exactly(Resources.AdminUsage),
  problem: exactly(Resources.AdminProblem)
}
const asDeclared = (body: Json): void => {
  if (body?.object === "list") for (const one of body.data) asDeclared(one)
  else if (body !== undefined)
    (declared[body.object ?? (body.status === undefined ? "usage" : "problem")] ?? expect.unreachable)(body)
}

const send = async (
  method: string,
  path: string,
  body?: Json,
  headers: Record<string, string> = {}
): Promise<Answer> => {
  const answer = await gateway.send(`/admin/v1/${path}`, {
    method,
    headers: {
      "x-gateway-api-key": adminKey,
      "x-request-id": "r1",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const text = await answer.text()
  const parsed = text === "" ? undefined : JSON.parse(text)
  asDeclared(parsed)
  return { status: answer.status, headers: answer.headers, body: parsed }
}

const problem = (status: number, code: string, detail: string, errors?: Json) => ({
  type: `urn:model-gateway:error:${code}`,
  title: code.replaceAll("_", " "),
  status,
  detail,
  instance: "r1",
  ...(errors === undefined ? {} : { errors })
})
const moment = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
const tag = (version: number) => expect.stringMatching(new RegExp(`^"${version}-[0-9a-z]{8,9}"$`))
const kept = { source: "store", version: 1, created_at: moment, updated_at: moment }
const messages = [{ role: "user", content: "Hello {{name}}" }]

interface Case {
  readonly path: string
  readonly id: string
  readonly body: Json
  readonly shown: Json
  /** What PUT sends, and what becomes of the entry by it. */
  readonly change: Json
  readonly changed: Json
}

const cases: ReadonlyArray<Case> = [
  {
    path: "providers",
    id: "gemini",
    body: { slug: "gemini", provider: "google", api_key: canary },
    shown: {
      object: "provider",
      slug: "gemini",
      provider: "google",
      credential: { type: "api_key", fingerprint: "c7fba27c...wxyz" }
    },
    change: { provider: "google", models: ["gemini-*"] },
    changed: { models: ["gemini-*"] }
  },
  {
    path: "configs",
    id: "fast",
    body: { id: "fast", name: "Fast", config: { provider: "@google", api_key: canary } },
    shown: { object: "config", id: "fast", name: "Fast", config: { provider: "@google", api_key: "***wxyz" } },
    change: { name: "Faster", config: { provider: "@google", api_key: "***wxyz", request_timeout: 1000 } },
    changed: { name: "Faster", config: { provider: "@google", api_key: "***wxyz", request_timeout: 1000 } }
  },
  {
    path: "prompts",
    id: "greet",
    body: { id: "greet", model: "@google/gemini-2.5-flash", messages, parameters: { temperature: 0, seed: 1 } },
    shown: {
      object: "prompt",
      id: "greet",
      model: "@google/gemini-2.5-flash",
      messages,
      parameters: { temperature: 0, seed: 1 },
      versions: [1]
    },
    change: {
      model: "@google/gemini-2.5-pro",
      messages,
      parameters: { temperature: 0, seed: 1 },
      labels: { production: 1 }
    },
    changed: { model: "@google/gemini-2.5-pro", labels: { production: 1 }, versions: [1, 2] }
  }
]

describe.each(cases)("admin API: $path", ({ body, change, changed, id, path, shown }) => {
  it("admin entries: one entry is created, read, listed, updated from its version and deleted", async () => {
    const made = await send("POST", path, body)
    expect([made.status, made.body]).toEqual([201, { ...shown, ...kept }])
    expect([
      made.headers.get("location"),
      made.headers.get("etag"),
      made.headers.get("cache-control"),
      made.headers.get("content-type"),
      made.headers.get("x-request-id")
    ]).toEqual([`/admin/v1/${path}/${id}`, tag(1), "no-store", "application/json", "r1"])
    const read = await send("GET", `${path}/${id}`)
    // A config is read with the numbers of its versions.
    const versions = path === "configs" ? { versions: [1] } : {}
    expect([read.status, read.body, read.headers.get("etag")]).toEqual([
      200,
      { ...made.body, ...versions },
      made.headers.get("etag")
    ])
    const list = await send("GET", path)
    expect(list.body).toEqual({ object: "list", data: expect.arrayContaining([made.body]), next_cursor: null })
    expect((await send("POST", path, body)).body).toEqual(
      problem(
        409,
        "already_exists",
        `There is a ${path.slice(0, -1)} "${id}" already; update it, or choose another id.`
      )
    )

    const etag = made.headers.get("etag") ?? ""
    const put = await send("PUT", `${path}/${id}`, change, { "if-match": `"other", ${etag}` })
    expect([put.status, put.body]).toEqual([200, { ...shown, ...kept, ...changed, version: 2 }])
    expect(put.headers.get("etag")).toEqual(tag(2))
    const stale = problem(
      412,
      "version_mismatch",
      "It has changed since; version 2 is there now. Read it again, and send its ETag as If-Match."
    )
    for (const [method, sent, match] of [
      ["PUT", change, etag],
      ["PUT", change, `W/${put.headers.get("etag")}`],
      ["DELETE", undefined, etag],
      ["DELETE", undefined, "x"]
    ] as const) {
      const answer = await send(method, `${path}/${id}`, sent, { "if-match": match })
      expect([answer.status, answer.headers.get("content-type"), answer.body]).toEqual([
        412,
        "application/problem+json",
        stale
      ])
    }
    const removed = await send("DELETE", `${path}/${id}`, undefined, { "if-match": "*" })
    expect([removed.status, removed.body, removed.headers.get("x-request-id")]).toEqual([204, undefined, "r1"])
    const missing = problem(404, `${path.slice(0, -1)}_not_found`, `There is no such ${path.slice(0, -1)}.`)
    for (const [method, sent] of [
      ["GET", undefined],
      ["PUT", change],
      ["DELETE", undefined]
    ] as const) {
      expect((await send(method, `${path}/${id}`, sent)).body).toEqual(missing)
    }
    // One that is made again has another tag.
    const again = await send("POST", path, body)
    expect(
      (await send("DELETE", `${path}/${id}`, undefined, { "if-match": `${again.headers.get("etag")}` })).status
    ).toBe(204)
  })
})

describe("admin API: keys", () => {
  it("admin keys: the text is returned once; keys are updated, rotated, and stay listed once revoked", async () => {
    const made = await send("POST", "keys", { name: "team", scopes: ["inference"], models: ["gemini-*"] })
    const { id, key, ...rest } = made.body
    const shown = {
      object: "key",
      id,
      name: "team",
      scopes: ["inference"],
      models: ["gemini-*"],
      prefix: key.slice(0, 8),
      ...kept
    }
    expect([made.status, { id, ...rest }]).toEqual([201, shown])
    expect(made.headers.get("location")).toBe(`/admin/v1/keys/${id}`)
    const chat = (text: string) =>
      gateway.post(
        "/v1/chat/completions",
        { model: "@google/gemini-2.5-flash", messages },
        { "x-gateway-api-key": text }
      )
    expect((await send("GET", `keys/${id}`)).body).toEqual({ ...shown, spent_usd: 0 })
    expect((await chat(key)).status).toBe(200)
    // The first request waits for the price list before it is written down.
    await until(async () => (await send("GET", `keys/${id}`)).body.last_used_at !== undefined)
    expect((await send("GET", `keys/${id}`)).body).toEqual({
      ...shown,
      spent_usd: expect.any(Number),
      last_used_at: moment
    })
    expect((await send("PUT", `keys/${id}`, { ...shown, models: ["claude-*"] })).body).toEqual({
      ...shown,
      models: ["claude-*"],
      version: 2
    })
    expect((await chat(key)).status).toBe(403)
    const rotated = await send("POST", `keys/${id}/rotate`)
    expect([rotated.status, rotated.body]).toEqual([
      200,
      {
        ...shown,
        models: ["claude-*"],
        version: 3,
        key: expect.stringMatching(/^mgk_[0-9A-Za-z]{43}$/),
        prefix: rotated.body.key.slice(0, 8)
      }
    ])
    expect([(await chat(key)).status, (await chat(rotated.body.key)).status]).toEqual([401, 403])
    expect((await send("DELETE", `keys/${id}`)).status).toBe(204)
    expect((await send("DELETE", `keys/${id}`)).status).toBe(204)
    expect((await chat(rotated.body.key)).status).toBe(401)
    expect((await send("GET", "keys")).body.data).toEqual([
      {
        object: "key",
        id: "boss",
        name: "boss",
        scopes: ["admin"],
        prefix: "mgk_admi",
        source: "file",
        managed: "file",
        spent_usd: 0
      },
      {
        ...shown,
        models: ["claude-*"],
        version: 4,
        prefix: rotated.body.prefix,
        revoked_at: moment,
        spent_usd: expect.any(Number),
        last_used_at: moment
      },
      { object: "key", id: "test", name: "test", prefix: "mgk_test", source: "file", managed: "file", spent_usd: 0 }
    ])
    expect((await send("PUT", `keys/${id}`, { name: "x" })).body).toEqual(
      problem(409, "key_revoked", `The key "${id}" is revoked, and that is for good; make a new one.`)
    )
  })
})

describe("admin API: lists", () => {
  it("admin lists: pages follow the order of ids and include declared entries", async () => {
    for (const slug of ["a1", "b1", "z1"]) await send("POST", "providers", { slug, provider: "google" })
    const seen: Array<string> = []
    let cursor = ""
    let pages = 0
    do {
      const { body } = await send("GET", `providers?limit=2${cursor}`)
      seen.push(...body.data.map(({ slug }: { readonly slug: string }) => slug))
      cursor = body.next_cursor === null ? "" : `&cursor=${body.next_cursor}`
      pages++
    } while (cursor !== "")
    expect([seen, pages]).toEqual([["a1", "b1", "google", "vertex-ai", "z1"], 3])
    for (const slug of ["a1", "b1", "z1"]) await send("DELETE", `providers/${slug}`)
  })
})

describe("admin API: refusals", () => {
  it.each([
    [
      "several faults",
      "POST",
      "providers",
      { slug: "x", provider: "google", region: "us-central1", api_kei: canary },
      400,
      problem(400, "invalid_value", "api_kei unknown key; did you mean api_key?", [
        { path: "api_kei", message: "unknown key; did you mean api_key?" }
      ])
    ],
    [
      "faults in sibling fields",
      "POST",
      "keys",
      { models: 1, scopes: ["root"] },
      400,
      problem(400, "invalid_value", "name is missing (and 2 more)", [
        { path: "name", message: "is missing" },
        { path: "models", message: "expected a list" },
        { path: "scopes[0]", message: '"root" is not known here; known: inference, admin' }
      ])
    ],
    [
      "a body that is not JSON",
      "POST",
      "configs",
      "{",
      400,
      problem(400, "invalid_json", expect.stringContaining("JSON"))
    ],
    ["a body that is not an object", "PUT", "configs/fast", "[]", 400, expect.objectContaining({ status: 400 })],
    [
      "a change of a declared entry",
      "PUT",
      "providers/google",
      { provider: "google" },
      409,
      problem(
        409,
        "declared_in_configuration",
        'The provider "google" is declared under "providers" of the configuration file, or by the environment; change it there.'
      )
    ],
    [
      "the deletion of a declared entry",
      "DELETE",
      "keys/boss",
      undefined,
      409,
      problem(
        409,
        "declared_in_configuration",
        'The key "boss" is declared under "keys" of the configuration file, or by the environment; change it there.'
      )
    ],
    [
      "an unknown filter",
      "GET",
      "keys?name=x",
      undefined,
      400,
      problem(400, "invalid_value", "name is not known here; there are limit, cursor.")
    ],
    [
      "an invalid cursor",
      "GET",
      "keys?cursor=%00",
      undefined,
      400,
      problem(400, "invalid_value", "cursor is the next_cursor of the page before.")
    ],
    [
      "an invalid id",
      "GET",
      "configs/a%00b",
      undefined,
      404,
      problem(404, "config_not_found", "There is no such config.")
    ],
    [
      "a version of an invalid id",
      "GET",
      "prompts/a%00b@1",
      undefined,
      404,
      problem(404, "prompt_not_found", "There is no such prompt.")
    ],
    [
      "an id that cannot be decoded",
      "GET",
      "configs/%zz",
      undefined,
      404,
      problem(404, "unknown_url", "There is no such URL here: the admin API lives under /admin/v1.")
    ],
    [
      "too large a page",
      "GET",
      "audit?limit=1001",
      undefined,
      400,
      problem(400, "invalid_value", "limit is a whole number from 1 to 1000.")
    ],
    [
      "another method",
      "DELETE",
      "keys",
      undefined,
      405,
      problem(405, "method_not_allowed", "This URL takes GET, POST only.")
    ],
    [
      "another method of an entry",
      "POST",
      "keys/boss",
      {},
      405,
      problem(405, "method_not_allowed", "This URL takes GET, PUT, DELETE only.")
    ],
    [
      "another method of an action",
      "GET",
      "providers/google/test",
      undefined,
      405,
      problem(405, "method_not_allowed", "This URL takes POST only.")
    ],
    [
      "an unknown path",
      "GET",
      "users",
      undefined,
      404,
      problem(404, "unknown_url", "There is no such URL here: the admin API lives under /admin/v1.")
    ],
    [
      "no id",
      "GET",
      "keys/",
      undefined,
      404,
      problem(404, "unknown_url", "There is no such URL here: the admin API lives under /admin/v1.")
    ],
    [
      "an id below an id",
      "GET",
      "keys/a/b",
      undefined,
      404,
      problem(404, "unknown_url", "There is no such URL here: the admin API lives under /admin/v1.")
    ],
    [
      "the test of an unknown provider",
      "POST",
      "providers/nobody/test",
      undefined,
      404,
      problem(404, "provider_not_found", "There is no such provider.")
    ]
  ] as const)("admin entries: refuses with a problem document: %s", async (_, method, path, body, status, expected) => {
    const answer = await send(method, path, body)
    expect([
      answer.status,
      answer.headers.get("content-type"),
      answer.headers.get("cache-control"),
      answer.body
    ]).toEqual([status, "application/problem+json", "no-store", expected])
  })

  it("admin entries: refuses another content type, and a body over the limit", async () => {
    expect((await send("POST", "keys", "name: x", { "content-type": "text/yaml" })).body).toEqual(
      problem(415, "unsupported_content_type", "Send the body as content-type: application/json.")
    )
    expect((await send("POST", "keys", JSON.stringify({ name: "x".repeat(1024 * 1024) }))).body).toEqual(
      problem(
        413,
        "request_too_large",
        "The request is larger than 1048576 bytes; send large media as a gs:// or Files API URL."
      )
    )
  })
})

it("admin entries: only an admin key reaches them; any other key is answered as a wrong one (TH20, TH23)", async () => {
  const refusals = new Set<string>()
  const verbs = (["providers", "keys", "configs", "prompts"] as const).flatMap((path) => [
    ["GET", path],
    ["POST", path],
    ["GET", `${path}/x`],
    ["PUT", `${path}/x`],
    ["DELETE", `${path}/x`]
  ])
  const all = [
    ...verbs,
    ["POST", "providers/x/test"],
    ["POST", "keys/x/rotate"],
    ["GET", "audit"],
    ["GET", "usage"],
    ["GET", "requests"],
    ["GET", "requests/x"]
  ]
  const headers = [
    { "x-gateway-api-key": gatewayKey },
    { "x-gateway-api-key": "mgk_wrong" },
    { "x-gateway-api-key": "", authorization: `Bearer ${gatewayKey}` },
    { "x-gateway-api-key": "x".repeat(4096) }
  ]
  for (const [method = "", path = ""] of all) {
    for (const header of headers) {
      const answer = await send(method, path, method === "POST" || method === "PUT" ? {} : undefined, header)
      refusals.add(JSON.stringify([answer.status, answer.body]))
    }
  }
  expect([...refusals]).toEqual([
    JSON.stringify([401, problem(401, "invalid_gateway_key", "The gateway key is not valid.")])
  ])
})

it("admin entries: every gateway key header accepts the admin key, and other origins are refused", async () => {
  for (const header of [
    { authorization: `Bearer ${adminKey}` },
    { "x-api-key": adminKey },
    { "api-key": adminKey },
    { "x-goog-api-key": adminKey }
  ]) {
    const answer = await gateway.send("/admin/v1/keys", { headers: { origin: "https://elsewhere.example", ...header } })
    expect([answer.status, [...answer.headers.keys()].filter((name) => name.startsWith("access-control"))]).toEqual([
      200,
      []
    ])
  }
  expect(
    (await gateway.send("/admin/v1/keys", { method: "OPTIONS", headers: { origin: "https://elsewhere.example" } }))
      .status
  ).toBe(405)
})

describe("admin API: test of a provider", () => {
  it("admin provider test: counts tokens, and reports the fault", async () => {
    await send("POST", "providers", { slug: "gemini", provider: "google", api_key: canary, models: ["imagen-4"] })
    const common = {
      object: "provider_test",
      slug: "gemini",
      model: "gemini-3.8-flash",
      duration_ms: expect.any(Number)
    }
    expect((await send("POST", "providers/gemini/test")).body).toEqual({
      ...common,
      ok: true,
      message: "The provider answers, and takes the credential."
    })
    await send("PUT", "providers/gemini", { provider: "google", api_key: null, models: ["gemini-2.5-pro"] })
    expect((await send("POST", "providers/gemini/test")).body).toEqual({
      ...common,
      model: "gemini-2.5-pro",
      ok: false,
      code: "provider_credentials_missing",
      message: expect.stringMatching(/Give the account an api_key or credentials\.$/)
    })
    await send("DELETE", "providers/gemini")
  })
})

it("admin entries: no answer, error or audit entry contains a secret", async () => {
  const pem = serviceAccount.privateKeyPem
  const account = {
    type: "service_account",
    project_id: "p-canary",
    private_key_id: "k1",
    client_email: "a@b.c",
    private_key: pem
  }
  const texts: Array<string> = []
  const note = async (method: string, path: string, body?: Json) => {
    const answer = await send(method, path, body)
    texts.push(JSON.stringify([answer.body, [...answer.headers]]))
    return answer
  }
  await note("POST", "providers", { slug: "s1", provider: "google", api_key: canary })
  await note("POST", "providers", { slug: "s1", provider: "google", api_key: canary })
  await note("POST", "providers", {
    slug: "s2",
    provider: "vertex-ai",
    credentials: { type: "service_account", json: account }
  })
  await note("POST", "providers", {
    slug: "s3",
    provider: "vertex-ai",
    credentials: { type: "access_token", token: canary }
  })
  await note("POST", "providers", {
    slug: "S4",
    provider: "google",
    api_key: canary,
    credentials: { type: canary, token: 1 }
  })
  await note("PUT", "providers/s1", { provider: "google", api_key: `${canary}2`, base_url: canary })
  await note("POST", "configs", {
    id: "c1",
    config: {
      targets: [
        { provider: "@s1", api_key: canary },
        { provider: "@s2", vertex_service_account_json: account }
      ]
    }
  })
  await note("PUT", "configs/c1", { config: { targets: [{ api_key: canary, weight: "x" }] } })
  const {
    body: { id, key }
  } = await send("POST", "keys", { name: "k1" })
  for (const path of [
    "providers",
    "providers/s1",
    "providers/s2",
    "keys",
    `keys/${id}`,
    "configs",
    "configs/c1",
    "prompts",
    "audit",
    "usage",
    "requests"
  ])
    await note("GET", path)
  await note("POST", "providers/s1/test")
  for (const path of ["configs/c1", "providers/s1", "providers/s2", "providers/s3", `keys/${id}`])
    await note("DELETE", path)
  const said = texts.join("\n")
  const secrets = [canary.slice(0, 30), pem.slice(40, 80), key.slice(8, 24)]
  expect(secrets.filter((secret) => said.includes(secret))).toEqual([])
  const { body } = await send("GET", "audit?limit=3")
  expect(body.data.map(({ action, actor, kind, request_id }: Json) => [action, actor, kind, request_id])).toEqual([
    ["revoke", "boss", "key", "r1"],
    ["delete", "boss", "provider", "r1"],
    ["delete", "boss", "provider", "r1"]
  ])
})

it("admin entries: requests run on while entries are written (F37)", async () => {
  await send("POST", "configs", { id: "busy", config: { provider: "@google" } })
  const writes = Array.from({ length: 200 }, (_, index) =>
    send(
      "PUT",
      "configs/busy",
      index % 5 === 0
        ? { config: { strategy: { mode: "nonsense" } } }
        : { config: { provider: "@google", request_timeout: 1000 + index } }
    )
  )
  const requests = Array.from({ length: 200 }, () =>
    gateway.post("/v1/chat/completions", { model: "gemini-2.5-flash", messages }, { "x-gateway-config": "busy" })
  )
  const [written, answered] = await Promise.all([Promise.all(writes), Promise.all(requests)])
  expect(written.filter(({ status }) => status === 400).length).toBe(40)
  expect(written.filter(({ status }) => status === 200).length).toBe(160)
  expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await send("GET", "configs/busy")).body.version).toBe(161)
  await send("DELETE", "configs/busy")
})

it("admin entries: integers beyond JavaScript's range keep their digits", async () => {
  const answer = await gateway.send("/admin/v1/prompts", {
    method: "POST",
    headers: { "x-gateway-api-key": adminKey, "content-type": "application/json" },
    body: `{"id":"long","model":"@google/gemini-2.5-flash","messages":[{"role":"user","content":"x"}],"parameters":{"seed":12345678901234567890}}`
  })
  expect((await answer.text()).match(/"parameters":\{[^}]*\}/)?.[0]).toBe(`"parameters":{"seed":12345678901234567890}`)
  const read = await gateway.send("/admin/v1/prompts/long", { headers: { "x-gateway-api-key": adminKey } })
  expect((await read.text()).match(/"parameters":\{[^}]*\}/)?.[0]).toBe(`"parameters":{"seed":12345678901234567890}`)
  await send("DELETE", "prompts/long")
})

it("admin entries: one of many concurrent changes to a version succeeds", async () => {
  const made = await send("POST", "configs", { id: "race", config: {} })
  const etag = made.headers.get("etag") ?? ""
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      send("PUT", "configs/race", { config: { request_timeout: index + 1 } }, { "if-match": etag })
    )
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 412)])
  await send("DELETE", "configs/race")
})
