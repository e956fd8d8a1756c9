// Attacks on isolation: credentials, projects and regions, objects, configs, prompts and names of other keys.
// Must not run an attack.
import { adminMadeKey, configKey, findEncodedLeak, findLeak } from "../canaries.ts"
import { sendBytes } from "../client.ts"
import {
  type Attack,
  ask,
  type RequestOptions,
  callsOf,
  chat,
  flash,
  generalFaults,
  hello,
  holds,
  json,
  faultsUnlessRefused,
  describeAnswer,
  faultUnless,
  type World
} from "./attack.ts"

const place = { "x-gateway-vertex-project-id": "victim-project", "x-gateway-vertex-region": "europe-west9" }

/** Calls with a stored credential keep its project and region, whatever the request names. */
export const stayInPlace =
  (asked: RequestOptions) =>
  async (world: World): Promise<ReadonlyArray<string>> => {
    const { calls, result } = await callsOf(world, () => generalFaults(world, asked))
    const strayed = calls.find(({ url }) => url.includes("victim-project") || url.includes("europe-west9"))
    return [
      ...result.faults,
      ...holds(strayed === undefined, `the stored credential was sent to ${strayed?.url}`),
      ...holds(
        result.answer.status >= 400 || (result.answer.headers["x-gateway-ignored-params"] ?? "") !== "",
        "what was ignored is not named in x-gateway-ignored-params"
      )
    ]
  }

/** The request is refused with this status and code. */
export const refusedBoth = (asked: RequestOptions, status: number, code: string) => (world: World) =>
  faultsUnlessRefused(world, status, code, asked)

const moved = async (world: World): Promise<ReadonlyArray<string>> => {
  const admin = (method: string, path: string, body: unknown) =>
    ask(world, { key: "admin", method, path: `/admin/v1${path}`, body })
  await admin("POST", "/providers", {
    slug: "movable",
    provider: "google",
    api_key: adminMadeKey,
    base_url: world.upstream.url
  })
  await admin("POST", "/configs", { id: "keyed", config: { provider: "movable", api_key: configKey } })
  const change = await admin("PUT", "/providers/movable", {
    provider: "google",
    api_key: "AIzaOfTheAttackerHimself0000000000000",
    base_url: world.trap.url
  })
  await ask(world, { headers: { "x-gateway-config": "keyed" }, body: hello("gemini-2.5-flash") })
  const got = world.trap.taken.find((one) => findLeak(one) !== undefined)
  await admin("DELETE", "/configs/keyed", undefined)
  await admin("DELETE", "/providers/movable", undefined)
  return holds(
    got === undefined,
    `the change answered ${change.status}, and the new place got the credential of a config: ${got?.slice(0, 100)}`
  )
}

const ambient = async (world: World): Promise<ReadonlyArray<string>> => {
  const body = {
    slug: "ambient",
    provider: "vertex-ai",
    project_id: "attacked-project",
    region: "us-central1",
    credentials: { type: "application_default" },
    endpoints: { stolen: { dialect: "openai", host: "evil.example" } }
  }
  const made = await ask(world, { key: "admin", path: "/admin/v1/providers", body })
  const { result } = await callsOf(world, () => ask(world, { body: hello("@ambient/endpoints.stolen") }))
  await ask(world, { key: "admin", method: "DELETE", path: "/admin/v1/providers/ambient" })
  const attempted = Object.keys(await world.gateway.attempted())
  return [
    ...faultUnless(400, "invalid_value", made, "the provider was made:"),
    ...holds(result.status >= 400, `the model answered ${result.status}`),
    ...holds(!attempted.includes("evil.example"), "evil.example was called as the machine itself")
  ]
}

const picture = (url: string) => [
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url } }
    ]
  }
]

const echoes = async (world: World): Promise<ReadonlyArray<string>> => {
  const models = ["400", "401", "403", "500", "html", "list", "event", "late"].flatMap((word) => [
    `@google/gemini-attack-echo-${word}`,
    `@vertex-ai/gemini-attack-echo-${word}`
  ])
  const claude = "@vertex-ai/anthropic.claude-attack-echo-400"
  const asked: ReadonlyArray<RequestOptions> = [
    ...models.flatMap((model) => [
      { body: hello(model) },
      { body: { ...hello(model), stream: true } },
      { path: `${chat}/count_tokens`, body: hello(model) }
    ]),
    ...["400", "claude", "html"].flatMap((word) =>
      [false, true].map((stream) => ({
        path: "/v1/messages",
        body: { ...hello(`@vertex-ai/anthropic.claude-attack-echo-${word}`), max_tokens: 5, stream }
      }))
    ),
    { path: "/v1/messages/count_tokens", body: hello(claude) },
    { path: "/v1/embeddings", body: { model: "@google/gemini-embedding-attack-echo-400", input: "x" } },
    { path: "/v1/embeddings", body: { model: "@vertex-ai/text-embedding-attack-echo-400", input: "x" } },
    { path: "/v1/images/generations", body: { model: "@vertex-ai/imagen-attack-echo-400", prompt: "x" } },
    { path: "/v1/images/generations", body: { model: "@google/gemini-image-attack-echo-400", prompt: "x" } },
    { body: hello("@vertex-ai/meta.llama-attack-echo-400") },
    { headers: { "x-gateway-config": "hidden" }, body: hello("gemini-attack-echo-400") },
    { headers: { "x-gateway-strict-schema-compliance": "false" }, body: hello("@google/gemini-attack-echo-400") }
  ]
  const faults: Array<string> = []
  for (const one of asked) {
    const { faults: found } = await generalFaults(world, one)
    faults.push(
      ...found.map((fault) => `${one.path ?? chat} ${JSON.stringify(one.body).slice(0, 70)}: ${fault.slice(0, 120)}`)
    )
  }
  return faults
}

const codedEchoes = async (world: World): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const model of ["google", "vertex-ai", "placed"].map((slug) => `@${slug}/gemini-attack-echo-coded`))
    for (const stream of [false, true]) {
      const { answer, faults: found } = await generalFaults(world, { body: { ...hello(model), stream } })
      const leak = findEncodedLeak(answer.body)
      faults.push(
        ...found,
        ...holds(answer.status === 400, `${model}: answered ${describeAnswer(answer)}`),
        ...holds(leak === undefined, `${model}: shows ${leak} in an encoding`)
      )
    }
  return faults
}

const inside = async (world: World): Promise<ReadonlyArray<string>> => {
  const asked: ReadonlyArray<RequestOptions> = [
    { body: hello("@gone/gemini-2.5-flash") },
    { body: hello("@google/gemini-attack-echo-400") },
    { body: hello("@google/demo-html-502") },
    ...[flash, "@vertex-ai/gemini-2.5-flash", "@vertex-ai/anthropic.claude-sonnet-4-6"].map((model) => ({
      headers: { "x-gateway-dry-run": "true" },
      body: hello(model)
    }))
  ]
  const faults: Array<string> = []
  for (const one of asked) {
    const { answer } = await generalFaults(world, one)
    const place = /127\.0\.0\.1:\d+|localhost:\d+/.exec(answer.body)?.[0]
    if (place !== undefined) faults.push(`${JSON.stringify(one.body).slice(0, 60)} shows the inner address ${place}`)
  }
  return faults
}

const teams = async (world: World): Promise<ReadonlyArray<string>> => {
  const dry = (headers: Readonly<Record<string, string>>) =>
    ask(world, {
      key: "narrow",
      headers: { "x-gateway-dry-run": "true", "x-gateway-config": "by-team", ...headers },
      body: hello("gemini-2.5-flash")
    })
  const own = await dry({})
  const other = await dry({ "x-gateway-metadata": '{"team":"b"}' })
  const isOwn = (url: unknown): boolean => String(url).includes("gemini-2.5-flash")
  return [
    ...holds(own.status === 200 && isOwn(json(own)["url"]), `without metadata it answered ${describeAnswer(own)}`),
    ...holds(
      other.status === 400 || other.status === 403 || isOwn(json(other)["url"]),
      `the request's metadata won over those of its key: ${String(json(other)["url"])}`
    )
  ]
}

const controls = async (world: World): Promise<ReadonlyArray<string>> => {
  const made = await ask(world, {
    key: "admin",
    path: "/admin/v1/keys",
    body: { name: "bell\u0007\u001b[2J\u009b2Jname" }
  })
  const printed = await world.gateway.command("keys", "list")
  const id = String(json(made)["id"] ?? "")
  if (made.status === 201) await ask(world, { key: "admin", method: "DELETE", path: `/admin/v1/keys/${id}` })
  const control = [...printed].find((sign) => /[\u0000-\u0009\u000b-\u001f\u007f]/.test(sign))
  return holds(control === undefined, `the list of keys prints the control character ${JSON.stringify(control)}`)
}

const shadow = async (world: World): Promise<ReadonlyArray<string>> => {
  const first = await ask(world, { key: "other", body: hello() })
  const id = first.headers["x-request-id"] ?? ""
  await ask(world, { key: "plain", headers: { "x-request-id": id }, body: hello("@google/gemini-attack-echo-400") })
  await new Promise((resolve) => setTimeout(resolve, 400))
  const row = json(await ask(world, { key: "admin", path: `/admin/v1/requests/${id}` }))
  return holds(
    JSON.stringify(row).includes('"other"'),
    `the row of another key's request is now ${JSON.stringify(row).slice(0, 200)}`
  )
}

const metrics = async (world: World): Promise<ReadonlyArray<string>> => {
  await ask(world, { key: "limited", body: hello() })
  const { body } = await ask(world, { path: "/metrics", headers: { "x-gateway-api-key": "" } })
  const line = /^gateway_\w*budget\w*\{.*(?:limited|pictures|texts|overrides).*$/m.exec(body)?.[0]
  return holds(line === undefined, `shows without a key ${line}`)
}

const labels = async (world: World): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  const tame = async (what: string, asked: RequestOptions): Promise<void> => {
    const { answer, faults: found } = await generalFaults(world, asked)
    faults.push(...found, ...holds(answer.status < 500, `${what}: answered ${describeAnswer(answer)}`))
  }
  for (const label of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    const config = `{"provider":"vertex-ai","labels":{"${label}":"x"},"metadata":{"${label}":"x"},"override_params":{"${label}":{"a":1}}}`
    await tame("a config", { headers: { "x-gateway-config": config }, body: hello("gemini-2.5-flash") })
    await tame("labels", {
      body: `{"model":"@vertex-ai/gemini-2.5-flash","labels":{"${label}":"x"},"messages":[{"role":"user","content":"Hello"}]}`
    })
    await tame("a model", { body: hello(`@google/${label}`) })
    await tame("a slug", { body: hello(`@${label}/gemini-2.5-flash`) })
    await tame("an id of a config", { headers: { "x-gateway-config": label }, body: hello() })
    await tame("labels of a prompt", {
      key: "admin",
      path: "/admin/v1/prompts",
      body: `{"id":"labelled","model":"${flash}","messages":[{"role":"user","content":"x"}],"labels":{"${label}":1}}`
    })
    await tame("an entry", { key: "admin", path: `/admin/v1/providers/${label}` })
    await tame("a group", { key: "admin", path: `/admin/v1/usage?group_by=${label}` })
    faults.push(
      ...(await faultsUnlessRefused(world, 404, "prompt_not_found", {
        path: `/v1/prompts/greeting@${label}/completions`,
        body: { variables: { name: "Ada" } }
      }))
    )
    const { answer, faults: found } = await generalFaults(world, {
      headers: { "x-gateway-metadata": `{"${label}":"x"}` },
      body: `{"model":"${flash}","metadata":{"${label}":"x"},"messages":[{"role":"user","content":"Hello"}]}`
    })
    faults.push(
      ...found,
      ...holds(answer.status === 200 || answer.status === 400, `metadata ${label}: answered ${describeAnswer(answer)}`)
    )
  }
  await ask(world, { key: "admin", method: "DELETE", path: "/admin/v1/prompts/labelled" })
  return faults
}

const hostless = async (world: World): Promise<ReadonlyArray<string>> => {
  const answer = await sendBytes(world.gateway.port, [
    `GET /v1/models HTTP/1.1\r\nx-gateway-api-key: ${world.gateway.key("plain")["x-gateway-api-key"]}\r\n\r\n`
  ])
  const error = Object(json(answer)["error"])
  return holds(
    answer.status === 400 && error.type === "invalid_request_error" && (answer.headers["x-request-id"] ?? "") !== "",
    `answered ${describeAnswer(answer)}`
  )
}

const integers = async (world: World): Promise<ReadonlyArray<string>> => {
  const big = "9007199254740993"
  const bodies: ReadonlyArray<readonly [path: string, body: string]> = [
    [chat, `{"model":"${flash}","seed":${big},"messages":[{"role":"user","content":"Hello"}]}`],
    [
      chat,
      `{"model":"@vertex-ai/meta.llama-3.3-70b-instruct-maas","seed":${big},"messages":[{"role":"user","content":"Hello"}]}`
    ],
    ...["completions", "render"].map(
      (verb) =>
        [
          `/v1/prompts/greeting/${verb}`,
          `{"variables":{"name":"Ada"},"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"type":"integer","maximum":${big}}}}}}]}`
        ] as const
    ),
    [
      "/v1/messages",
      `{"model":"@vertex-ai/anthropic.claude-sonnet-4-6","max_tokens":5,"later":${big},"messages":[{"role":"user","content":"Hello"}]}`
    ],
    ...[
      flash,
      "@google/gemini-2.0-flash",
      "@vertex-ai/anthropic.claude-sonnet-4-6",
      "@vertex-ai/meta.llama-3.3-70b-instruct-maas"
    ].flatMap(
      (model) =>
        [
          [
            chat,
            `{"model":"${model}","messages":[{"role":"user","content":"Hello"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"id\\":${big}}"}}]},{"role":"tool","tool_call_id":"c1","content":"{\\"id\\":${big}}"}]}`
          ],
          [
            chat,
            `{"model":"${model}","messages":[{"role":"user","content":"Hello"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"type":"integer","maximum":${big}}}}}}]}`
          ]
        ] as const
    )
  ]
  const answers: ReadonlyArray<RequestOptions> = [
    "@google/gemini-2.5-flash-attack-integers",
    "@google/gemini-attack-integers",
    "@vertex-ai/anthropic.claude-attack-integers"
  ].flatMap((model) => [
    { body: hello(model) },
    ...(model.includes("claude")
      ? [{ path: "/v1/messages", body: { ...hello(model), max_tokens: 5 } }]
      : [{ body: { ...hello(model), stream: true } }])
  ])
  const faults: Array<string> = []
  const dry = { "x-gateway-dry-run": "true" }
  const override = `{"override_params":{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"type":"integer","maximum":${big}}}}}}]}}`
  const all: ReadonlyArray<RequestOptions> = [
    ...bodies.map(([path, body]) => ({ path, headers: dry, body })),
    ...bodies.map(([path, body]) => ({
      path,
      headers: { ...dry, "x-gateway-config": '{"override_params":{"temperature":0.5}}' },
      body
    })),
    { headers: { ...dry, "x-gateway-config": override }, body: hello() },
    ...answers,
    ...answers.map((one) => ({
      ...one,
      headers: { "x-gateway-cache": "60", "x-gateway-strict-schema-compliance": "false" }
    }))
  ]
  for (const asked of all) {
    const { answer, faults: found } = await generalFaults(world, asked)
    const path = `${asked.path ?? chat} ${JSON.stringify(asked.body).slice(0, 60)}`
    faults.push(
      ...found,
      ...holds(
        answer.status === 400 || !/90071992547409(?!93)/.test(answer.body),
        `${path}: the number became another: ${/900719925474\d+/.exec(answer.body)?.[0]}`
      )
    )
  }
  return faults
}

const inline = {
  "x-gateway-config": JSON.stringify({
    provider: "vertex-ai",
    vertex_project_id: "victim-project",
    vertex_region: "europe-west9"
  })
}

export const bounds: ReadonlyArray<Attack> = [
  {
    name: "place-headers",
    sentence: "headers lead no stored credential to another project or region",
    attack: stayInPlace({ headers: place, body: hello("@vertex-ai/gemini-2.5-flash") })
  },
  {
    name: "place-config",
    sentence: "an inline config leads no stored credential there",
    attack: stayInPlace({ headers: inline, body: hello("gemini-2.5-flash") })
  },
  { name: "moved-provider", sentence: "a provider that moves takes no credential of a config along", attack: moved },
  { name: "ambient", sentence: "the machine's own credential goes to Google's hosts only", attack: ambient },
  {
    name: "objects-read",
    sentence: "gs:// beyond the account's list is refused",
    attack: refusedBoth(
      { body: { ...hello("@vertex-ai/gemini-2.5-flash"), messages: picture("gs://other/secret.png") } },
      403,
      "object_not_allowed"
    )
  },
  {
    name: "objects-write",
    sentence: "storage_uri beyond the account's list is refused",
    attack: refusedBoth(
      {
        path: "/v1/images/generations",
        body: { model: "@vertex-ai/imagen-4.0-generate-001", prompt: "A tide.", storage_uri: "gs://other/out" }
      },
      403,
      "storage_not_allowed"
    )
  },
  {
    name: "config-list",
    sentence: "a config beyond the key's list does not exist for it",
    attack: refusedBoth(
      { key: "narrow", headers: { "x-gateway-config": "hidden" }, body: hello("gemini-2.5-flash") },
      404,
      "config_not_found"
    )
  },
  {
    name: "prompt-list",
    sentence: "a prompt beyond the key's list does not exist for it",
    attack: refusedBoth(
      { key: "narrow", path: "/v1/prompts/hidden/completions", body: { variables: { name: "Ada" } } },
      404,
      "prompt_not_found"
    )
  },
  { name: "echoes", sentence: "no credential comes back in an upstream's error, on any route", attack: echoes },
  { name: "echoes-coded", sentence: "nor in base64, hex, entities or spaced letters", attack: codedEchoes },
  { name: "inner-addresses", sentence: "errors and dry runs show no address of the operator's", attack: inside },
  { name: "metadata", sentence: "locked metadata of a key are its own", attack: teams },
  { name: "names", sentence: "control characters of a name reach no terminal", attack: controls },
  { name: "request-ids", sentence: "a request id of a client hides no other request", attack: shadow },
  { name: "metric-names", sentence: "/metrics without a key names no budget of a key", attack: metrics },
  { name: "labels", sentence: "names of Object.prototype are no labels", attack: labels },
  { name: "host", sentence: "a request without Host is refused as any other", attack: hostless },
  { name: "integers", sentence: "integers beyond 2^53 are kept or refused", attack: integers }
]
