// Attacks on Google's own paths: places, keys in the query, second models, objects, stores of the project, money.
// Must not run an attack.
import { carriedKey, keys } from "../canaries.ts"
import { sendBytes } from "../client.ts"
import {
  type Attack,
  callsOf,
  describeAnswer,
  faultsUnlessRefused,
  generalFaults,
  holds,
  type RequestOptions,
  type World
} from "./attack.ts"
import { refusedBoth, stayInPlace } from "./bounds.ts"

const contents = [{ role: "user", parts: [{ text: "Hello" }] }]
const model = (id: string, verb = "generateContent"): string => `/v1beta/models/${id}:${verb}`
const victim = "/v1/projects/victim-project/locations/europe-west9/publishers"

const echoes = async (world: World): Promise<ReadonlyArray<string>> => {
  const words = ["400", "401", "403", "500", "html", "list", "event", "late"]
  const asked: ReadonlyArray<RequestOptions> = [
    ...words.flatMap((word) =>
      ["@google", "@vertex-ai"].flatMap((slug) =>
        ["generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent", "countTokens"].map((verb) => ({
          path: model(`${slug}/gemini-attack-echo-${word}`, verb),
          body: { contents }
        }))
      )
    ),
    ...["rawPredict", "streamRawPredict"].flatMap((verb) =>
      ["400", "claude", "html"].map((word) => ({
        path: `${victim}/anthropic/models/claude-attack-echo-${word}:${verb}`,
        body: { messages: [{ role: "user", content: "Hello" }], max_tokens: 5 }
      }))
    )
  ]
  const faults: Array<string> = []
  for (const one of asked) {
    const { faults: found } = await generalFaults(world, one)
    faults.push(...found.map((fault) => `${one.path}: ${fault.slice(0, 160)}`))
  }
  return faults
}

const queryKeys = async (world: World): Promise<ReadonlyArray<string>> => {
  const path = model("@google/gemini-2.5-flash")
  const own = await callsOf(world, () =>
    generalFaults(world, {
      path: `${path}?key=${keys.plain}`,
      headers: { "x-gateway-api-key": "" },
      body: { contents }
    })
  )
  const carried = await callsOf(world, () =>
    generalFaults(world, { path: `${path}?key=${encodeURIComponent(carriedKey)}`, body: { contents } })
  )
  return [
    ...own.result.faults,
    ...carried.result.faults,
    ...holds(own.result.answer.status === 200, `a gateway key: ${describeAnswer(own.result.answer)}`),
    ...[...own.calls, ...carried.calls].flatMap(({ headers, url }) => [
      ...holds(!url.includes("key="), `the query went upstream: ${url}`),
      ...holds(!`${url} ${headers}`.includes(keys.plain), "the gateway key went upstream")
    ]),
    ...holds(
      carried.calls.length === 1 && carried.calls.every(({ headers }) => headers.includes(carriedKey)),
      "the carried key is not the one that was used"
    )
  ]
}

const other = "gemini-2.5-pro"
const claudeMessage = {
  model: "@vertex-ai/anthropic.claude-sonnet-4-6",
  max_tokens: 5,
  messages: [{ role: "user", content: "Hello" }]
}

const secondModels = async (world: World): Promise<ReadonlyArray<string>> => [
  ...(await faultsUnlessRefused(world, 400, "invalid_value", {
    key: "narrow",
    path: model("gemini-embedding-001", "batchEmbedContents"),
    body: { requests: [{ model: "models/text-embedding-004", content: contents[0] }] }
  })),
  ...(
    await Promise.all(
      [
        [
          "generateContent",
          { contents, generation_config: { routing_config: { manual_mode: { model_name: other } } } }
        ],
        ["generateContent", { contents, generationConfig: { routingConfig: { manualMode: { modelName: other } } } }],
        ["countTokens", { generate_content_request: { model: `models/${other}`, contents } }],
        ["countTokens", { generateContentRequest: { model: `models/${other}`, contents } }]
      ].map(([verb, body]) =>
        faultsUnlessRefused(world, 400, "invalid_value", {
          path: model("@vertex-ai/gemini-2.5-flash", String(verb)),
          body
        })
      )
    )
  ).flat(),
  // Anthropic's errors have no code.
  ...(await faultsUnlessRefused(world, 400, "error", {
    path: "/v1/messages",
    body: { ...claudeMessage, fallbacks: [{ model: "claude-opus-4-6" }] }
  })),
  ...(await faultsUnlessRefused(world, 403, "model_not_allowed", {
    key: "narrow",
    path: model("text-embedding-004", "embedContent"),
    body: { content: contents[0] }
  }))
]

const objects = async (world: World): Promise<ReadonlyArray<string>> => {
  const path = model("@vertex-ai/gemini-2.5-flash")
  const file = { fileUri: "gs://other/secret.png", mimeType: "image/png" }
  const bodies: ReadonlyArray<unknown> = [
    { contents: [{ role: "user", parts: [{ fileData: file }] }] },
    { contents: [{ role: "user", parts: [{ file_data: { file_uri: file.fileUri, mime_type: file.mimeType } }] }] },
    `{"contents":[{"role":"user","parts":[{"fileData":{"fileUri":"g\\u0073://other/secret.png","mimeType":"image/png"}}]}]}`
  ]
  const faults: Array<string> = []
  for (const body of bodies)
    faults.push(...(await faultsUnlessRefused(world, 403, "object_not_allowed", { path, body })))
  return faults
}

const stores = async (world: World): Promise<ReadonlyArray<string>> => {
  const names = [
    "files",
    "files/x",
    "cachedContents",
    "batches/1",
    "tunedModels",
    "operations/1",
    "corpora",
    "interactions"
  ]
  const paths = [
    ...names.map((name) => `/v1beta/${name}`),
    "/upload/v1beta/files",
    "/v1/projects/p/locations/l/cachedContents"
  ]
  const carrying = { "x-goog-api-key": carriedKey }
  const { calls, result } = await callsOf(world, async () => {
    const faults: Array<string> = []
    for (const path of paths) {
      for (const method of ["GET", "POST", "DELETE"]) {
        const asked = { method, path, headers: carrying, ...(method === "POST" ? { body: {} } : {}) }
        faults.push(...(await faultsUnlessRefused(world, 400, "unsupported_operation", asked)))
      }
    }
    return faults
  })
  return [...result, ...holds(calls.length === 0, `forwarded: ${calls.map(({ url }) => url).join(", ")}`)]
}

const live = async (world: World): Promise<ReadonlyArray<string>> => {
  const answer = await sendBytes(world.gateway.port, [
    `GET /ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=${keys.plain} HTTP/1.1\r\n`,
    "host: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\r\n"
  ])
  return holds(
    answer.status === 400 && answer.headers["connection"] === "close",
    `answered ${describeAnswer(answer)}, connection ${answer.headers["connection"]}`
  )
}

const large = { type: "object", description: "x".repeat(100_000) }
const untyped = Buffer.from("tide ".repeat(20_000)).toString("base64")

const names = async (world: World): Promise<ReadonlyArray<string>> => {
  const path = model("@google/gemini-2.5-flash")
  const bodies: ReadonlyArray<unknown> = [
    { contents, generationConfig: { maxOutputTokens: 1 }, generation_config: { maxOutputTokens: 60_000 } },
    { contents, generationConfig: { maxOutputTokens: 1, max_output_tokens: 60_000 } },
    { contents: [{ parts: [{ inlineData: { data: "" }, inline_data: { data: untyped } }] }] },
    `{"contents":[{"parts":[{"text":"a"}],"parts":[{"text":"b"}]}]}`
  ]
  const faults: Array<string> = []
  for (const key of ["plain", "limited"] as const)
    for (const body of bodies)
      faults.push(...(await faultsUnlessRefused(world, 400, "duplicate_key", { key, path, body })))
  return faults
}

const forms = async (world: World): Promise<ReadonlyArray<string>> => {
  const paths = [
    model("@google/gemini-2.5-flash"),
    model("@google/gemini-2.5-flash", "streamGenerateContent"),
    model("@vertex-ai/gemini-2.5-flash", "countTokens"),
    `${victim}/anthropic/models/claude-sonnet-4-5:rawPredict`
  ]
  const refused = ["alt=media", "$alt=proto", "%24alt=proto", "alt=json&alt=proto", "ALT=proto", "access_token=a"]
  const faults: Array<string> = []
  for (const path of paths) {
    const body = path.includes("rawPredict")
      ? { messages: [{ role: "user", content: "Hello" }], max_tokens: 5 }
      : { contents }
    for (const query of refused) {
      const { answer, faults: found } = await generalFaults(world, { path: `${path}?${query}`, body })
      faults.push(...found, ...holds(answer.status === 400, `${path}?${query} answered ${describeAnswer(answer)}`))
    }
  }
  const { calls } = await callsOf(world, () =>
    generalFaults(world, {
      path: `${paths[0]}?fields=candidates&$fields=candidates&callback=f`,
      headers: { "x-goog-fieldmask": "candidates", "x-http-method-override": "GET" },
      body: { contents }
    })
  )
  return [
    ...faults,
    ...holds(calls.length === 1, `${calls.length} calls`),
    ...holds(
      calls.every(({ headers, url }) => !/fields|callback|fieldmask|override/i.test(url + headers)),
      `a mask went upstream: ${calls[0]?.url} ${calls[0]?.headers}`
    )
  ]
}

const amounts = async (world: World): Promise<ReadonlyArray<string>> => {
  const path = model("@google/gemini-2.5-pro")
  const asked: ReadonlyArray<RequestOptions> = [
    { path, body: { contents, generationConfig: { maxOutputTokens: 60_000 } } },
    { path, body: { contents, generation_config: { max_output_tokens: 60_000 } } },
    { path, body: { contents, generationConfig: { maxOutputTokens: 8_000, candidateCount: 8 } } },
    { path, body: { contents, generationConfig: { maxOutputTokens: "60000" } } },
    { path, body: { contents, generation_config: { max_output_tokens: "6e4" } } },
    { path, body: { contents, generationConfig: { maxOutputTokens: 1, responseSchema: large } } },
    { path, body: { contents, generation_config: { max_output_tokens: 1, response_json_schema: large } } },
    { path, body: { contents: [{ parts: [{ inlineData: { data: untyped } }] }] } },
    {
      path: model("gemini-2.5-pro"),
      headers: {
        "x-gateway-config": JSON.stringify({
          provider: "google",
          override_params: { google: { generationConfig: { maxOutputTokens: 60_000 } } }
        })
      },
      body: { contents, generationConfig: { maxOutputTokens: 1 } }
    }
  ]
  const faults: Array<string> = []
  for (const one of asked)
    faults.push(...(await faultsUnlessRefused(world, 429, "insufficient_quota", { key: "overrides", ...one })))
  return faults
}

export const native: ReadonlyArray<Attack> = [
  {
    name: "native-place",
    sentence: "project and location of a path lead no stored credential there",
    attack: stayInPlace({ path: `${victim}/google/models/gemini-2.5-flash:generateContent`, body: { contents } })
  },
  { name: "native-echoes", sentence: "no credential comes back on Google's own paths", attack: echoes },
  {
    name: "native-query",
    sentence: "a key in the query goes upstream in its header only, or not at all",
    attack: queryKeys
  },
  { name: "native-models", sentence: "a second model in a body does not pass the key's list", attack: secondModels },
  { name: "native-objects", sentence: "gs:// in either spelling is held to the account's list", attack: objects },
  {
    name: "native-caches",
    sentence: "a stored credential reads no cached content of another project",
    attack: refusedBoth(
      {
        path: "/v1/publishers/google/models/gemini-2.5-flash:generateContent",
        headers: { "x-gateway-provider": "vertex-ai" },
        body: { contents, cachedContent: "projects/victim-project/locations/l/cachedContents/1" }
      },
      403,
      "object_not_allowed"
    )
  },
  { name: "native-stores", sentence: "stores of the project are never asked, with any credential", attack: stores },
  { name: "native-live", sentence: "a socket is refused by name, and its connection closed", attack: live },
  { name: "native-amounts", sentence: "amounts in either spelling are counted before the call", attack: amounts },
  { name: "native-names", sentence: "a member under both of its names is refused", attack: names },
  { name: "native-forms", sentence: "an answer has no other form than JSON or events, and no mask", attack: forms }
]
