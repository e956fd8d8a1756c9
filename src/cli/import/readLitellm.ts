// Reads a configuration of LiteLLM's proxy: models, groups, fallbacks, retries, keys and budgets.
// Must not know files or the command line. Field names: https://docs.litellm.ai/docs/proxy/configs
import { isClaudeName } from "../../domain/models/modelName.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { Accounts, type Imported, type LeftOut, present } from "./Imported.ts"

/** The config that serves groups with several deployments or with fallbacks. */
const configId = "litellm"

interface Deployment {
  readonly slug: string
  readonly model: string
  readonly weight: number | undefined
}

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
const listOf = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])
const numberOf = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined)

/** LiteLLM writes a variable as `os.environ/NAME`. */
const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value.replace(/^os\.environ\/(\w+)$/, "${$1}") : undefined

/** A model of Vertex AI as this gateway names it: Claude and Llama by publisher, numbers as endpoints. */
const vertexModel = (model: string): string => {
  if (isClaudeName(model)) return `anthropic.${model}`
  if (/^\d+$/.test(model)) return `endpoints.${model}`
  return model.startsWith("meta/") ? `meta.${model.slice("meta/".length)}` : model
}

const credentialsOf = (written: string | undefined): JsonObject => {
  if (written === undefined) return { type: "application_default" }
  return written.trimStart().startsWith("{") || written.startsWith("${")
    ? { type: "service_account", json: written }
    : { type: "service_account", file: written }
}

class Reader {
  readonly left: Array<LeftOut> = []
  readonly accounts = new Accounts()
  readonly groups = new Map<string, Array<Deployment>>()

  leave(path: string, why: string): void {
    this.left.push({ path, why })
  }

  /** Names every member that no other method reads. */
  leaveOthers(path: string, members: JsonObject, read: ReadonlyArray<string>): void {
    for (const name of Object.keys(members)) {
      if (!read.includes(name)) this.leave(`${path}.${name}`, "has no counterpart here")
    }
  }

  models(list: ReadonlyArray<Json>): void {
    for (const [index, entry] of list.entries()) {
      const path = `model_list[${index}]`
      const { litellm_params: params, model_name: name } = objectOf(entry)
      const group = textOf(name)
      const deployment = this.deployment(objectOf(params), `${path}.litellm_params`)
      if (group === undefined || deployment === undefined) continue
      if (group.includes("*")) this.leave(path, `clients write the model as @${deployment.slug}/NAME instead`)
      else this.groups.set(group, [...(this.groups.get(group) ?? []), deployment])
    }
  }

  private deployment(params: JsonObject, path: string): Deployment | undefined {
    const [provider = "", ...rest] = (textOf(params["model"]) ?? "").split("/")
    const model = rest.join("/")
    this.leaveOthers(path, params, [
      "model",
      "api_key",
      "vertex_project",
      "vertex_location",
      "vertex_credentials",
      "weight"
    ])
    const weight = numberOf(params["weight"])
    if (provider === "gemini")
      return {
        slug: this.accounts.slug("google", {
          provider: "google",
          api_key: textOf(params["api_key"]) ?? "${GEMINI_API_KEY}"
        }),
        model,
        weight
      }
    if (provider === "vertex_ai" || provider === "vertex_ai_beta")
      return { slug: this.accounts.slug("vertex-ai", vertexAccount(params)), model: vertexModel(model), weight }
    this.leave(path, `the provider "${provider}" is not one of this gateway, which has Vertex AI and the Gemini API`)
    return undefined
  }

  /** By group: the groups that are called after it failed. */
  fallbacks(list: ReadonlyArray<Json>, path: string): ReadonlyMap<string, ReadonlyArray<string>> {
    const found = new Map<string, ReadonlyArray<string>>()
    for (const [index, entry] of list.entries()) {
      for (const [group, others] of Object.entries(objectOf(entry))) {
        const known = listOf(others).flatMap((one) => textOf(one) ?? [])
        const missing = [group, ...known].filter((one) => !this.groups.has(one))
        if (missing.length > 0) this.leave(`${path}[${index}]`, `there is no model ${missing.join(", ")} here`)
        else found.set(group, known)
      }
    }
    return found
  }
}

const vertexAccount = (params: JsonObject): JsonObject =>
  present({
    provider: "vertex-ai",
    project_id: textOf(params["vertex_project"]),
    region: textOf(params["vertex_location"]) ?? "global",
    credentials: credentialsOf(textOf(params["vertex_credentials"]))
  })

const targetOf = ({ model, slug, weight }: Deployment): JsonObject =>
  present({ provider: slug, override_params: { model }, weight })

/** The deployments of a group share the load. */
const groupTarget = (deployments: ReadonlyArray<Deployment>): JsonObject => {
  const [only] = deployments
  return deployments.length === 1 && only !== undefined
    ? targetOf(only)
    : { strategy: { mode: "loadbalance" }, targets: deployments.map(targetOf) }
}

const routesOf = (reader: Reader, fallbacks: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<JsonObject> =>
  [...reader.groups]
    .filter(([name, deployments]) => deployments.length > 1 || fallbacks.has(name))
    .map(([name, deployments]) => {
      const others = (fallbacks.get(name) ?? []).map((other) => groupTarget(reader.groups.get(other) ?? []))
      const first = groupTarget(deployments)
      return others.length === 0
        ? { name, ...first }
        : { name, strategy: { mode: "fallback" }, targets: [first, ...others] }
    })

/** One config for all groups, chosen by the model that the client writes; other models go where they name. */
const configOf = (routes: ReadonlyArray<JsonObject>, retry: JsonObject): JsonObject => ({
  ...retry,
  strategy: {
    mode: "conditional",
    conditions: routes.map(({ name }) => ({ query: { "params.model": { $eq: name ?? "" } }, then: name ?? "" })),
    default: "as asked"
  },
  targets: [...routes, { name: "as asked", passthrough: true }]
})

/** LiteLLM counts `30d`, `24h` or `1mo`; budgets here are by day or by month. */
const budgetOf = (settings: JsonObject, reader: Reader): JsonObject | undefined => {
  const usd = numberOf(settings["max_budget"])
  const span = textOf(settings["budget_duration"])
  if (usd === undefined) return undefined
  const per = span === "1d" || span === "24h" ? "day" : span === "30d" || span === "1mo" ? "month" : undefined
  if (per === undefined) reader.leave("litellm_settings.max_budget", "budgets here are for a day or a month")
  return per === undefined ? undefined : { usd, per }
}

const retryOf = (router: JsonObject, settings: JsonObject): JsonObject => {
  const attempts = numberOf(router["num_retries"]) ?? numberOf(settings["num_retries"])
  const seconds = numberOf(router["timeout"]) ?? numberOf(settings["request_timeout"])
  return present({
    retry: attempts === undefined ? undefined : { attempts },
    request_timeout: seconds === undefined ? undefined : Math.round(seconds * 1_000)
  })
}

const redisOf = (router: JsonObject): JsonObject | undefined => {
  const url = textOf(router["redis_url"])
  const host = textOf(router["redis_host"])
  if (url !== undefined) return { url }
  if (host === undefined) return undefined
  const password = textOf(router["redis_password"])
  const port = router["redis_port"]
  return {
    url: `redis://${password === undefined ? "" : `:${password}@`}${host}:${textOf(port) ?? numberOf(port) ?? 6379}`
  }
}

const masterKey = "general_settings.master_key"

const keysOf = (general: JsonObject, config: string | undefined, budget: JsonObject | undefined, reader: Reader) => {
  const key = textOf(general["master_key"])
  if (key === undefined) return undefined
  reader.leave(masterKey, "is here for requests and the admin API; virtual keys are made again with `keys create`")
  return [present({ name: "master", key, scopes: ["inference", "admin"], config, budget })]
}

/** The settings that serve the same model names as this configuration of LiteLLM, and what they leave out. */
export const readLitellm = (file: Json): Imported => {
  const { general_settings, litellm_settings, model_list, router_settings, ...others } = objectOf(file)
  const [general, settings, router] = [
    objectOf(general_settings),
    objectOf(litellm_settings),
    objectOf(router_settings)
  ]
  const reader = new Reader()
  for (const name of Object.keys(others)) reader.leave(name, "has no counterpart here")
  reader.models(listOf(model_list))
  const fallbacks = reader.fallbacks(
    listOf(router["fallbacks"] ?? settings["fallbacks"]),
    router["fallbacks"] === undefined ? "litellm_settings.fallbacks" : "router_settings.fallbacks"
  )
  const routes = routesOf(reader, fallbacks)
  const config = routes.length === 0 ? undefined : configId
  const routed = new Set(routes.map(({ name }) => name))
  const aliases = [...reader.groups].flatMap(([name, [only]]) =>
    routed.has(name) || only === undefined ? [] : [[name, `@${only.slug}/${only.model}`] as const]
  )
  const keys = keysOf(general, config, budgetOf(settings, reader), reader)
  reader.leaveOthers("general_settings", general, ["master_key"])
  reader.leaveOthers("litellm_settings", settings, [
    "drop_params",
    "fallbacks",
    "num_retries",
    "request_timeout",
    "max_budget",
    "budget_duration"
  ])
  reader.leaveOthers("router_settings", router, [
    "fallbacks",
    "num_retries",
    "timeout",
    "redis_url",
    "redis_host",
    "redis_port",
    "redis_password"
  ])
  return {
    settings: present({
      providers: reader.accounts.entries,
      aliases: aliases.length === 0 ? undefined : Object.fromEntries(aliases),
      configs: config === undefined ? undefined : { [config]: configOf(routes, retryOf(router, settings)) },
      keys,
      redis: redisOf(router)
    }),
    left: reader.left
  }
}
