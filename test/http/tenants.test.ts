// Tests what one inference key may reach with stored credentials: places, objects, configs and prompts.
// Must not reach the network: upstreams are scripted.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { Json } from "../../src/domain/text/json.ts"
import type { ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { config, inline } from "../support/config.ts"
import { reply } from "../support/gemini.ts"
import { promptsOf } from "../support/prompts.ts"
import { gatewaysOver, replying, type ScriptedOptions } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const path = "/v1/chat/completions"
const hello = { model: "@vertex-ai/gemini-2.5-flash", messages: [{ role: "user", content: "hi" }] }
const over = gatewaysOver()

/** Each call as the upstream sees it: who is it, and what for. */
const recording = (more: ScriptedOptions = {}) => {
  const calls: Array<string> = []
  const gateway = over(({ auth, url }) => {
    const [secret] = Object.values(auth)
    const read = /^https:\/\/([^/]+)\/v1(?:beta)?\/(?:projects\/([^/]+)\/locations\/([^/]+)\/)?(.*)$/.exec(url)
    calls.push(
      [
        secret === undefined ? "" : Redacted.value(secret),
        ...(read ?? []).slice(1, 4).filter((part) => part !== undefined)
      ].join(" ")
    )
    return replying(
      url.endsWith(":predict")
        ? { predictions: [{ gcsUri: "gs://mine/out/0.png", mimeType: "image/png" }] }
        : url.endsWith(":rawPredict")
          ? { type: "message", content: [{ type: "text", text: "fine" }] }
          : reply([{ text: "fine" }], { finishReason: "STOP" })
    )
  }, more)
  const ask = async (body: object, headers: Record<string, string> = {}, to = path) => {
    const answer = await gateway.post(to, body, headers)
    const { error }: { error?: { type: string; code: string; param: string | null; message: string } } = JSON.parse(
      await answer.text()
    )
    return {
      status: answer.status,
      ignored: answer.headers.get("x-gateway-ignored-params"),
      ...(error === undefined ? {} : { error })
    }
  }
  return { ...gateway, ask, calls }
}

const own = "Bearer test-token us-central1-aiplatform.googleapis.com test-project us-central1"
const victim = { "x-gateway-vertex-project-id": "victim-project", "x-gateway-vertex-region": "europe-west4" }
const accounts = (facts: Partial<ProviderAccount>) => [googleAccount, { ...vertexAccount, ...facts }]
const account = (facts: Partial<ProviderAccount>): ScriptedOptions => ({ accounts: accounts(facts) })

describe("destinations of a stored credential (interface 4.3)", () => {
  it("stored credential: headers of a request cannot redirect it, and are named as ignored (TH6)", async () => {
    const { ask, calls } = recording()
    expect(await ask(hello, victim)).toEqual({
      status: 200,
      ignored: "x-gateway-vertex-project-id,x-gateway-vertex-region"
    })
    expect(calls).toEqual([own])
  })
  it("stored credential: an inline config without its own cannot redirect it, on Claude's route too (TH6)", async () => {
    const { ask, calls } = recording()
    const there = inline({ provider: "vertex-ai", vertex_project_id: "victim-project", vertex_region: "europe-west4" })
    expect(await ask(hello, there)).toEqual({ status: 200, ignored: "vertex_project_id,vertex_region" })
    expect(await ask(hello, { ...there, ...victim })).toEqual({
      status: 200,
      ignored: "vertex_project_id,x-gateway-vertex-project-id,vertex_region,x-gateway-vertex-region"
    })
    const claude = { model: "@vertex-ai/claude-sonnet-4-5@20250929", max_tokens: 9, messages: hello.messages }
    expect((await ask(claude, victim, "/v1/messages")).ignored).toBe(
      "x-gateway-vertex-project-id,x-gateway-vertex-region"
    )
    expect(calls).toEqual([own, own, own])
  })
  it("stored credential: a request that asks for refusal is refused before anything is sent", async () => {
    const { ask, calls } = recording()
    const strict = { ...victim, "x-gateway-unsupported-params": "reject" }
    const message = (param: string) =>
      `"${param}" has no effect: "vertex-ai" is called at its own place unless the request brings the credential, and the request asked for refusal of such parameters.`
    const refused = (param: string) => ({
      status: 400,
      ignored: null,
      error: { type: "invalid_request_error", code: "unsupported_parameter", param, message: message(param) }
    })
    expect(await ask(hello, strict)).toEqual(refused("x-gateway-vertex-project-id"))
    expect(
      await ask(hello, {
        ...inline({ provider: "vertex-ai", vertex_region: "eu" }),
        "x-gateway-unsupported-params": "reject"
      })
    ).toEqual(refused("vertex_region"))
    expect(
      await ask(hello, { "x-gateway-vertex-region": "us-central1", "x-gateway-unsupported-params": "reject" })
    ).toEqual({ status: 200, ignored: null })
    expect(calls).toEqual([own])
  })
  it("stored credential: places the operator lists for the account are allowed, and no others", async () => {
    const { ask, calls } = recording(account({ projects: ["victim-project"], regions: ["europe-*"] }))
    expect(await ask(hello, victim)).toEqual({ status: 200, ignored: null })
    expect(await ask(hello, { ...victim, "x-gateway-vertex-region": "us" })).toEqual({
      status: 200,
      ignored: "x-gateway-vertex-region"
    })
    expect(calls).toEqual([
      "Bearer test-token europe-west4-aiplatform.googleapis.com victim-project europe-west4",
      "Bearer test-token us-central1-aiplatform.googleapis.com victim-project us-central1"
    ])
  })
  it("request credential: goes where the request asks, by header or inline config", async () => {
    const { ask, calls } = recording()
    expect(await ask(hello, { ...victim, authorization: "Bearer caller" })).toEqual({ status: 200, ignored: null })
    expect(
      await ask(
        hello,
        inline({ provider: "vertex-ai", api_key: "inline", vertex_project_id: "their-project", vertex_region: "us" })
      )
    ).toEqual({ status: 200, ignored: null })
    expect(calls).toEqual([
      "Bearer caller europe-west4-aiplatform.googleapis.com victim-project europe-west4",
      "Bearer inline aiplatform.us.rep.googleapis.com their-project us"
    ])
  })
  it("operator config: is applied, and its credential counts as the account's, not the request's (TH34)", async () => {
    const configs = {
      placed: config({ provider: "vertex-ai", vertex_region: "eu" }),
      keyed: config({ provider: "vertex-ai", api_key: "operators", vertex_project_id: "operators-project" })
    }
    const { ask, calls } = recording({ ...account({}), configs })
    expect((await ask(hello, { ...victim, "x-gateway-config": "placed" })).ignored).toBe(
      "x-gateway-vertex-project-id,x-gateway-vertex-region"
    )
    expect((await ask(hello, { ...victim, "x-gateway-config": "keyed" })).ignored).toBe(
      "x-gateway-vertex-project-id,x-gateway-vertex-region"
    )
    expect(calls).toEqual([
      "Bearer test-token aiplatform.eu.rep.googleapis.com test-project eu",
      "Bearer operators us-central1-aiplatform.googleapis.com operators-project us-central1"
    ])
  })
  it("account without a region: the error names who may set one", async () => {
    const { ask, calls } = recording(account({ region: undefined, regions: ["us"] }))
    expect((await ask(hello, { "x-gateway-vertex-region": "eu" })).error).toEqual({
      type: "invalid_request_error",
      code: "missing_required_parameter",
      param: "x-gateway-vertex-region",
      message:
        "No Vertex AI region is known: set region on the provider. With its stored credential x-gateway-vertex-region counts only for regions that the provider lists under regions."
    })
    expect(await ask(hello, { "x-gateway-vertex-region": "us" })).toEqual({ status: 200, ignored: null })
    expect(calls).toEqual(["Bearer test-token aiplatform.us.rep.googleapis.com test-project us"])
  })
  it("tenants: a cached answer belongs to the place that answered (TH38)", async () => {
    const { calls, post } = recording()
    const ask = { "x-gateway-cache": "60" }
    const status = async (headers: Record<string, string>) =>
      (await post(path, hello, { ...ask, ...headers })).headers.get("x-gateway-cache-status")
    expect([
      await status({}),
      await status(victim),
      await status({ ...victim, authorization: "Bearer caller" })
    ]).toEqual(["MISS", "HIT", "MISS"])
    expect(calls).toHaveLength(2)
  })
})

describe("objects named under a stored credential (interface 4.4)", () => {
  const asking = (url: string) => ({
    ...hello,
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url, mime_type: "image/png" } }] }]
  })
  const drawing = (storage_uri: string) => ({
    model: "@vertex-ai/imagen-3.0-generate-001",
    prompt: "a cat",
    storage_uri
  })
  const pictures = "/v1/images/generations"
  const unread = (uri: string) => ({
    type: "permission_error",
    code: "object_not_allowed",
    param: null,
    message: `"${uri}" lies outside of what requests may read with the stored credential of "vertex-ai" (gcs.read); send a credential of your own to read it.`
  })
  const bound = account({ gcs: { read: ["gs://mine/a", "gs://open/"], write: ["gs://mine/out"] } })

  it("tenants: images are written only to places the account lists (TH34)", async () => {
    const { ask, calls } = recording()
    for (const uri of ["gs://mine/out", "gs://victim"]) {
      expect(await ask(drawing(uri), {}, pictures)).toEqual({
        status: 403,
        ignored: null,
        error: {
          type: "permission_error",
          code: "storage_not_allowed",
          param: null,
          message: `storage_uri: "${uri}" lies outside of what requests may write with the stored credential of "vertex-ai" (gcs.write); send a credential of your own to write there.`
        }
      })
    }
    expect(
      (
        await ask(
          drawing("gs://victim"),
          { "x-gateway-config": JSON.stringify({ override_params: { storage_uri: "gs://other" } }) },
          pictures
        )
      ).status
    ).toBe(403)
    expect(calls).toEqual([])
    expect((await ask(drawing("gs://theirs"), { authorization: "Bearer caller" }, pictures)).status).toBe(200)
    expect(calls).toEqual([own.replace("test-token", "caller")])
  })
  it("tenants: a listed prefix ends at whole segments", async () => {
    const { ask } = recording(bound)
    const status = async (uri: string) => (await ask(drawing(uri), {}, pictures)).status
    const good = ["gs://mine/out", "gs://mine/out/", "gs://mine/out/x"]
    const bad = [
      "gs://mine",
      "gs://mine/outer",
      "gs://mine/out/../a",
      "gs://mine/out/%2e%2e/a",
      "gs://mine/out\\..\\a",
      "gs://mine/./out",
      "gs://minex/out",
      "GS://victim",
      "mine/out",
      "https://storage.googleapis.com/victim/out"
    ]
    expect(await Promise.all(good.map(status))).toEqual([200, 200, 200])
    expect(await Promise.all(bad.map(status))).toEqual(bad.map(() => 403))
  })
  it("tenants: without a list every object may be read, and with one those below it", async () => {
    const open = recording()
    expect((await open.ask(asking("gs://anything/x.png"))).status).toBe(200)
    const { ask, calls } = recording(bound)
    for (const uri of [
      "gs://mine/a/x.png",
      "gs://open/x.png",
      "https://storage.googleapis.com/mine/a/x.png",
      "https://mine.storage.googleapis.com/a/my%20x.png",
      "https://example.com/x.png"
    ]) {
      expect([uri, (await ask(asking(uri))).status]).toEqual([uri, 200])
    }
    calls.length = 0
    for (const uri of [
      "gs://victim/x.png",
      "GS://victim/x.png",
      "gs://mine/ab/x.png",
      "https://storage.googleapis.com/victim/x.png",
      "https://victim.storage.googleapis.com/x.png"
    ]) {
      expect(await ask(asking(uri))).toEqual({ status: 403, ignored: null, error: unread(uri) })
    }
    expect(calls).toEqual([])
    expect((await ask(asking("gs://theirs/x.png"), { authorization: "Bearer caller" })).status).toBe(200)
  })
  it("tenants: the list applies to every way of naming an object", async () => {
    const { ask, calls } = recording(bound)
    const uri = "gs://victim/x.pdf"
    const picture = { type: "image_url", image_url: { url: uri, mime_type: "application/pdf" } }
    const called = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }]
    }
    const histories = [
      [{ role: "user", content: [{ type: "file", file: { file_url: uri, mime_type: "application/pdf" } }] }],
      [
        {
          role: "assistant",
          content: [
            {
              type: "provider_part",
              provider: "vertex-ai",
              part: { file_data: { file_uri: uri, mime_type: "application/pdf" } }
            }
          ]
        }
      ],
      [called, { role: "tool", tool_call_id: "call_1", content: [picture] }]
    ]
    for (const history of histories) {
      const body = { ...hello, messages: [...hello.messages, ...history, ...hello.messages] }
      for (const to of [path, `${path}/count_tokens`])
        expect([history, (await ask(body, {}, to)).error?.code]).toEqual([history, "object_not_allowed"])
    }
    const embedding = {
      model: "@vertex-ai/multimodalembedding@001",
      input: [{ image: { gcs_uri: "gs://mine/a/x.png" } }, { video: { url: uri } }]
    }
    expect((await ask(embedding, {}, "/v1/embeddings")).error).toEqual(unread(uri))
    const llama = {
      model: "@vertex-ai/meta/llama-4",
      messages: [{ role: "user", content: [{ type: "file", file: { file_data: uri } }] }]
    }
    expect((await ask(llama)).error).toEqual(unread(uri))
    const native = {
      model: "@vertex-ai/claude-sonnet-4-5@20250929",
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "document", source: { type: "url", url: uri } }] }]
    }
    expect((await ask(native, {}, "/v1/messages")).status).toBe(403)
    expect((await ask(hello, inline({ override_params: { messages: asking(uri).messages } }))).status).toBe(403)
    expect(calls).toEqual([])
  })
  it("tenants: text that mentions an object does not name one", async () => {
    const { ask } = recording(bound)
    const uri = "gs://victim/x.pdf"
    const tool = {
      type: "function",
      function: {
        name: "fetch_it",
        parameters: { type: "object", properties: { url: { type: "string", default: uri } } }
      }
    }
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "fetch_it", arguments: JSON.stringify({ url: uri, fileUri: uri }) }
    }
    const messages = [
      { role: "system", content: uri },
      { role: "user", content: [{ type: "text", text: uri }] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: JSON.stringify({ uri }) }
    ]
    expect((await ask({ ...hello, messages, tools: [tool] })).status).toBe(200)
    expect(
      (await ask({ model: "@vertex-ai/text-embedding-005", input: uri }, {}, "/v1/embeddings")).error?.code
    ).not.toBe("object_not_allowed")
    const used = [
      { role: "user", content: uri },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "fetch_it", input: { url: uri } }] }
    ]
    expect(
      (await ask({ model: "@vertex-ai/claude-sonnet-4-5@20250929", max_tokens: 9, messages: used }, {}, "/v1/messages"))
        .status
    ).toBe(200)
  })
  it("tenants: cached contents and stores must belong to the account's project", async () => {
    const { ask, calls } = recording(account({ projects: ["12345678"] }))
    const cached = (name: string) => ask({ ...hello, cached_content: name })
    const rest = "locations/us-central1/cachedContents/c"
    for (const name of [`projects/test-project/${rest}`, `projects/12345678/${rest}`, "cachedContents/c"])
      expect((await cached(name)).status).toBe(200)
    calls.length = 0
    for (const name of [
      `projects/victim-project/${rest}`,
      `//aiplatform.googleapis.com/projects/victim-project/${rest}`
    ]) {
      expect((await cached(name)).error).toEqual({
        type: "permission_error",
        code: "object_not_allowed",
        param: null,
        message: `"${name.slice(0, 80)}" is of another project than that of "vertex-ai", whose stored credential reads its own; an operator lists others, also by their number, under projects.`
      })
    }
    const google = { google: { cached_content: `projects/victim-project/${rest}` } }
    expect((await ask({ ...hello, extra_body: google })).status).toBe(403)
    const datastore = "projects/victim-project/locations/global/collections/default_collection/dataStores/d"
    const llama = {
      ...hello,
      model: "@vertex-ai/meta/llama-4",
      tools: [{ type: "retrieval", retrieval: { vertexAiSearch: { datastore } } }]
    }
    expect(calls).toEqual([])
    // A tool that the model does not run is left out (W5), and with it what it names.
    await ask(llama)
    expect(JSON.stringify(calls.splice(0))).not.toMatch(/victim-project|retrieval/)
    expect(
      (await ask({ ...hello, cached_content: `projects/victim-project/${rest}` }, { authorization: "Bearer caller" }))
        .status
    ).toBe(200)
  })
  it("tenants: a project number is trusted until the account lists projects", async () => {
    const cached_content = "projects/87654321/locations/us-central1/cachedContents/c"
    expect((await recording(account({})).ask({ ...hello, cached_content })).status).toBe(200)
    expect((await recording(account({ projects: ["12345678"] })).ask({ ...hello, cached_content })).error?.code).toBe(
      "object_not_allowed"
    )
  })
  it("tenants: a target without permission falls back to one with it", async () => {
    const { ask, calls } = recording({
      accounts: [
        { ...vertexAccount, gcs: { read: [], write: undefined } },
        { ...vertexAccount, slug: "reader" }
      ]
    })
    const chain: Json = { strategy: { mode: "fallback" }, targets: [{ provider: "vertex-ai" }, { provider: "reader" }] }
    expect((await ask({ ...asking("gs://theirs/y.png"), model: "gemini-2.5-flash" }, inline(chain))).status).toBe(200)
    expect(calls).toEqual([own])
  })
})

describe("configs and prompts of a key (interface 4.4)", () => {
  const configs = {
    fast: config({ provider: "google", api_key: "embedded", override_params: { model: "gemini-2.5-pro" } }),
    open: config({ provider: "google" }),
    other: config({ provider: "vertex-ai" }),
    usual: config({ provider: "google", default_params: { model: "gemini-2.5-pro" } })
  }
  const prompts = promptsOf([
    { id: "tone", text: "Be brief." },
    { id: "greeting", model: "@google/gemini-2.5-pro", messages: [{ role: "user", content: "{{>tone}} Hello." }] },
    { id: "secret", model: "@vertex-ai/gemini-2.5-flash", messages: [{ role: "user", content: "Secret." }] }
  ])
  const keyed = (facts: object) =>
    recording({ configs, prompts, keys: [{ name: "tenant", key: Redacted.make(gatewayKey), ...facts }] })
  const bare = { messages: hello.messages }
  const flash = { ...bare, model: "gemini-2.5-flash" }
  const by = (id: string) => ({ "x-gateway-config": id })
  const missing = (kind: string, id: string, message: string) => ({
    status: 404,
    ignored: null,
    error: {
      type: "not_found_error",
      code: `${kind}_not_found`,
      param: kind === "config" ? "x-gateway-config" : "id",
      message
    }
  })

  it("tenants: a config outside the key's list is not found", async () => {
    const { ask, calls } = keyed({ configs: ["fast"], config: "open" })
    const [hidden, absent] = [await ask(flash, by("other")), await ask(flash, by("never"))]
    expect([hidden.status, hidden.error?.code]).toEqual([404, "config_not_found"])
    expect({ ...hidden, error: { ...hidden.error, message: hidden.error?.message.replace("other", "never") } }).toEqual(
      absent
    )
    expect([
      (await ask(flash, by("fast"))).status,
      (await ask(flash)).status,
      (await ask(flash, by("open"))).status
    ]).toEqual([200, 200, 200])
    expect(calls).toEqual([
      "embedded generativelanguage.googleapis.com",
      "test-api-key generativelanguage.googleapis.com",
      "test-api-key generativelanguage.googleapis.com"
    ])
  })
  it("tenants: a prompt outside the key's list is neither rendered nor completed, in any version", async () => {
    const { ask, calls, post } = keyed({ prompts: ["gree*"] })
    for (const verb of ["render", "completions"]) {
      for (const id of ["secret", "secret@1", "secret@latest"]) {
        const [hidden, absent] = [
          await ask({}, {}, `/v1/prompts/${id}/${verb}`),
          await ask({}, {}, `/v1/prompts/${id.replace("secret", "never")}/${verb}`)
        ]
        expect(hidden).toEqual(missing("prompt", id, hidden.error?.message ?? ""))
        expect(hidden.error?.message.replace("secret", "never")).toBe(absent.error?.message)
      }
    }
    expect(calls).toEqual([])
    const rendered: unknown = await (await post("/v1/prompts/greeting/render", {})).json()
    expect(rendered).toEqual({
      success: true,
      data: { model: "@google/gemini-2.5-pro", messages: [{ role: "user", content: "Be brief. Hello." }] }
    })
  })
  it("tenants: without lists every config and prompt may be named, within the key's providers and models", async () => {
    const { ask, calls } = keyed({ providers: ["vertex-ai"], models: ["gemini-2.5-flash"] })
    for (const id of ["fast", "open"])
      expect([id, (await ask(flash, by(id))).error?.code]).toEqual([id, "model_not_allowed"])
    expect((await ask({}, {}, "/v1/prompts/greeting/completions")).error?.code).toBe("model_not_allowed")
    expect((await ask(flash, inline({ provider: "google", api_key: "own" }))).error?.code).toBe("model_not_allowed")
    expect(calls).toEqual([])
    expect((await ask(flash, by("other"))).status).toBe(200)
  })
  it("tenants: a listed config grants what it names, and nothing that the request adds", async () => {
    const { ask, calls } = keyed({
      providers: ["vertex-ai"],
      models: ["gemini-2.5-flash"],
      configs: ["fast", "open", "usual"]
    })
    expect((await ask(flash, by("fast"))).status).toBe(200)
    expect((await ask(flash, by("open"))).status).toBe(200)
    expect((await ask(bare, by("usual"))).status).toBe(200)
    expect(calls).toEqual([
      "embedded generativelanguage.googleapis.com",
      "test-api-key generativelanguage.googleapis.com",
      "test-api-key generativelanguage.googleapis.com"
    ])
    const added = [
      [{ ...bare, model: "gemini-3-pro" }, by("open")],
      [{ ...bare, model: "gemini-3-pro" }, by("usual")],
      [{ ...bare, model: "@google/gemini-2.5-flash" }, {}],
      [flash, inline({ provider: "google" })]
    ] as const
    for (const [body, headers] of added)
      expect([body, (await ask(body, headers)).error?.code]).toEqual([body, "model_not_allowed"])
  })
  it("tenants: the key's own config is a grant only where it is listed", async () => {
    const alone = keyed({ providers: ["vertex-ai"], config: "fast" })
    expect((await alone.ask(flash)).error?.code).toBe("model_not_allowed")
    const listed = keyed({ providers: ["vertex-ai"], config: "fast", configs: ["fast"] })
    expect((await listed.ask(flash)).status).toBe(200)
  })
  it("tenants: a listed prompt grants its own model, and no replacement from the request", async () => {
    const { ask, calls } = keyed({ providers: ["vertex-ai"], models: [], prompts: ["greeting"] })
    const to = "/v1/prompts/greeting/completions"
    expect((await ask({}, {}, to)).status).toBe(200)
    expect(calls).toEqual(["test-api-key generativelanguage.googleapis.com"])
    for (const model of ["@google/gemini-2.5-flash", "@vertex-ai/gemini-2.5-flash"])
      expect((await ask({ model }, {}, to)).error?.code).toBe("model_not_allowed")
    expect((await ask({ ...bare, model: "@google/gemini-2.5-pro" })).error?.code).toBe("model_not_allowed")
  })
  it("tenants: an account's list of models limits a grant too", async () => {
    const { ask } = recording({
      configs,
      accounts: [{ ...googleAccount, models: ["gemini-2.5-flash"] }],
      keys: [{ name: "tenant", key: Redacted.make(gatewayKey), configs: ["*"] }]
    })
    expect((await ask(flash, by("fast"))).error?.code).toBe("model_not_allowed")
  })
})
