// Reads one deployment of LiteLLM's `model_list`: the account, the model, its endpoint, and what its calls are given.
// Must not know groups or files. Field names: https://docs.litellm.ai/docs/providers/vertex
import { isClaudeName, normaliseModelId, parseName } from "../../domain/models/modelName.ts"
import { builtInModels } from "../../domain/models/modelTable.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { present } from "./Imported.ts"

export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
export const listOf = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])
export const numberOf = (value: Json | undefined): number | undefined => {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) ? number : undefined
}

/** LiteLLM writes a variable as `os.environ/NAME`. Numbers are texts where YAML reads them so. */
export const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "number"
    ? String(value)
    : typeof value === "string" && value !== ""
      ? value.replace(/^os\.environ\/(\w+)$/, "${$1}")
      : undefined

/** An endpoint of the account, by its id. */
export interface Endpoint {
  readonly id: string
  readonly dialect: "openai" | "gemini" | "predict"
  /** The model that was tuned. */
  readonly base: string | undefined
}

export interface Deployment {
  readonly slug: "google" | "vertex-ai"
  readonly account: JsonObject
  /** The model as it is written after the slug. */
  readonly model: string
  readonly endpoint: Endpoint | undefined
  /** Lower ones are called first. */
  readonly order: number
  /** `weight`, `request_timeout`, `retry` and `default_params` of its target. */
  readonly target: JsonObject
}

/** What is read of a deployment, and the members that are not. */
export interface ReadDeployment {
  /** A text states why it is not served. */
  readonly deployment: Deployment | string
  readonly left: ReadonlyArray<readonly [member: string, why: string]>
}

/** Parameters of requests that a deployment may set. */
const requestParams = [
  "temperature",
  "top_p",
  "top_k",
  "max_tokens",
  "max_completion_tokens",
  "frequency_penalty",
  "presence_penalty",
  "stop",
  "seed",
  "n",
  "reasoning_effort",
  "thinking",
  "response_format",
  "safety_settings"
]

const readMembers = new Set([
  ...requestParams,
  "model",
  "custom_llm_provider",
  "api_key",
  "api_base",
  "base_model",
  "litellm_credential_name",
  "vertex_project",
  "vertex_ai_project",
  "vertex_location",
  "vertex_ai_location",
  "vertex_credentials",
  "vertex_ai_credentials",
  "weight",
  "order",
  "timeout",
  "max_retries",
  "num_retries",
  "drop_params",
  "rpm",
  "tpm"
])

const credentialsOf = (written: Json | undefined): JsonObject => {
  if (isJsonObject(written)) return { type: "service_account", json: written }
  const text = textOf(written)
  if (text === undefined) return { type: "application_default" }
  return text.trimStart().startsWith("{") || text.startsWith("${")
    ? { type: "service_account", json: text }
    : { type: "service_account", file: text }
}

/** Both spellings of a member of Vertex AI's. */
const vertexMember = (params: JsonObject, name: string): Json | undefined =>
  params[`vertex_${name}`] ?? params[`vertex_ai_${name}`]

const vertexAccount = (params: JsonObject): JsonObject => {
  const credentials = vertexMember(params, "credentials")
  const project = textOf(vertexMember(params, "project"))
  return present({
    provider: "vertex-ai",
    // LiteLLM takes the project from this variable where neither the file nor a key file names one.
    project_id: project ?? (credentials === undefined ? "${VERTEXAI_PROJECT}" : undefined),
    region: textOf(vertexMember(params, "location")) ?? "global",
    credentials: credentialsOf(credentials),
    base_url: textOf(params["api_base"])
  })
}

const googleAccount = (params: JsonObject): JsonObject =>
  present({
    provider: "google",
    api_key: textOf(params["api_key"]) ?? "${GEMINI_API_KEY}",
    base_url: textOf(params["api_base"])
  })

/** Whether Google's publisher has it: by the facts, or by a name with a version. */
const isServed = (model: string): boolean =>
  builtInModels.find(model).source === "file" || parseName(normaliseModelId(model)) !== undefined

/** A model of Vertex AI as this gateway names it; a text in `why` where it has no name here. */
const vertexModel = (
  written: string,
  base: string | undefined
): { readonly model: string; readonly endpoint?: Endpoint } | { readonly why: string } => {
  const slash = written.indexOf("/")
  const publisher = slash < 0 ? undefined : written.slice(0, slash)
  const id = written.slice(slash + 1)
  if (/^\d+$/.test(id) && (publisher === undefined || publisher === "openai" || publisher === "gemini")) {
    const dialect = publisher ?? (base === undefined ? "predict" : "gemini")
    return { model: `endpoints.${id}`, endpoint: { id, dialect, base } }
  }
  if (publisher === undefined && isClaudeName(id)) return { model: `anthropic.${id}` }
  if (publisher === "anthropic") return { model: `anthropic.${id}` }
  if (publisher === "meta") return { model: `meta.${id}` }
  if (publisher === "mistralai" || publisher === "ai21" || (publisher === undefined && !isServed(id)))
    return { why: `"${written}" is no model that this gateway serves on Vertex AI` }
  return { model: written }
}

const targetOf = (params: JsonObject): JsonObject => {
  const seconds = numberOf(params["timeout"])
  const attempts = numberOf(params["max_retries"] ?? params["num_retries"])
  const defaults = Object.fromEntries(
    requestParams.flatMap((name) => {
      const value = params[name]
      return value === undefined || value === null ? [] : [[name, value] as const]
    })
  )
  return present({
    weight: numberOf(params["weight"]) ?? numberOf(params["rpm"]) ?? numberOf(params["tpm"]),
    request_timeout: seconds === undefined ? undefined : Math.round(seconds * 1_000),
    retry: attempts === undefined ? undefined : { attempts },
    default_params: Object.keys(defaults).length === 0 ? undefined : defaults
  })
}

/** `credentials` are LiteLLM's `credential_list`, by name. */
export const readDeployment = (
  written: JsonObject,
  info: JsonObject,
  credentials: ReadonlyMap<string, JsonObject>
): ReadDeployment => {
  const named = credentials.get(textOf(written["litellm_credential_name"]) ?? "")
  const params = { ...named, ...written }
  const full = textOf(params["model"]) ?? ""
  const custom = textOf(params["custom_llm_provider"])
  const [first = "", ...rest] = full.split("/")
  const isPrefixed = custom === undefined || first === custom
  const provider = custom ?? first
  const model = isPrefixed ? rest.join("/") : full
  const base = textOf(info["base_model"] ?? params["base_model"])?.replace(/^.*\//, "")
  const left = Object.keys(params).flatMap((name): ReadonlyArray<readonly [string, string]> =>
    name === "rpm" || name === "tpm"
      ? [[name, "is a weight here; limits belong to keys"]]
      : readMembers.has(name)
        ? []
        : [[name, "has no counterpart here"]]
  )
  const common = { order: numberOf(params["order"]) ?? 0, target: targetOf(params) }
  if (provider === "gemini")
    return {
      deployment: { ...common, slug: "google", account: googleAccount(params), model, endpoint: undefined },
      left
    }
  if (provider !== "vertex_ai" && provider !== "vertex_ai_beta")
    return {
      deployment: `the provider "${provider}" is not one of this gateway, which has Vertex AI and the Gemini API`,
      left: []
    }
  const read = vertexModel(model, base)
  if ("why" in read) return { deployment: read.why, left: [] }
  const account = vertexAccount(params)
  return {
    deployment: { ...common, slug: "vertex-ai", account, model: read.model, endpoint: read.endpoint },
    left: [
      ...left,
      ...(vertexMember(params, "location") === undefined
        ? [["vertex_location", "is not set, so that its requests go to the location global"] as const]
        : [])
    ]
  }
}
