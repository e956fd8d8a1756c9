// Reads a configuration of LiteLLM's proxy: models, groups, fallbacks, retries, keys and budgets.
// Must not know files or the command line. Field names: https://docs.litellm.ai/docs/proxy/configs
import * as Result from "effect/Result"
import { isAliasName } from "../../domain/serving.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { Accounts, type Imported, type LeftOut, present } from "./Imported.ts"
import { type Deployment, listOf, numberOf, objectOf, readDeployment, textOf } from "./litellmDeployment.ts"

/** The config that serves groups with several deployments, with fallbacks or with settings of their own. */
const configId = "litellm"

/** A deployment with the slug that its account got. */
interface Placed extends Omit<Deployment, "slug" | "account"> {
  readonly slug: string
}

class Reader {
  readonly left: Array<LeftOut> = []
  readonly accounts = new Accounts()
  readonly groups = new Map<string, Array<Placed>>()
  /** Facts of tuned models, by their endpoints. */
  readonly models = new Map<string, JsonObject>()

  leave(path: string, why: string): void {
    this.left.push({ path, why })
  }

  /** Names every member that no other method reads. */
  leaveOthers(path: string, members: JsonObject, read: ReadonlyArray<string>): void {
    for (const name of Object.keys(members)) {
      if (!read.includes(name)) this.leave(`${path}.${name}`, "has no counterpart here")
    }
  }

  readModels(list: ReadonlyArray<Json>, credentials: ReadonlyMap<string, JsonObject>): void {
    for (const [index, entry] of list.entries()) {
      const path = `model_list[${index}]`
      const { litellm_params, model_info, model_name, ...others } = objectOf(entry)
      this.leaveOthers(path, others, [])
      const info = objectOf(model_info)
      this.leaveOthers(`${path}.model_info`, info, ["id", "base_model"])
      const { deployment, left } = readDeployment(objectOf(litellm_params), info, credentials)
      for (const [member, why] of left) this.leave(`${path}.litellm_params.${member}`, why)
      const group = textOf(model_name)
      if (typeof deployment === "string") this.leave(`${path}.litellm_params`, deployment)
      else if (group === undefined) this.leave(path, "has no model_name")
      else if (group.includes("*"))
        this.leave(path, `clients write the model as @${this.place(deployment).slug}/NAME instead`)
      else if (isAliasName(group)) this.groups.set(group, [...(this.groups.get(group) ?? []), this.place(deployment)])
      else this.leave(path, 'model_name is no name here: letters, digits and "._:/-", at most 128')
    }
  }

  private place({ account, endpoint, slug, ...others }: Deployment): Placed {
    const placed = this.accounts.slug(slug, account)
    if (endpoint !== undefined) {
      this.accounts.addEndpoint(placed, endpoint.id, { dialect: endpoint.dialect })
      if (endpoint.base !== undefined) this.models.set(endpoint.id, { inherits: endpoint.base })
    }
    return { ...others, endpoint, slug: placed }
  }

  /** A further name of a group. */
  readAliases(names: JsonObject, path: string): void {
    for (const [name, target] of Object.entries(names)) {
      const group = textOf(isJsonObject(target) ? target["model"] : target)
      const deployments = this.groups.get(group ?? "")
      if (deployments !== undefined && isAliasName(name)) this.groups.set(name, deployments)
      else this.leave(`${path}.${name}`, `there is no model ${group ?? ""} here`)
    }
  }

  /** By group: the groups that are called after it failed; `*` stands for every group. */
  fallbacks(list: ReadonlyArray<Json>, path: string): ReadonlyMap<string, ReadonlyArray<string>> {
    const read = new Map<string, ReadonlyArray<string>>()
    for (const [index, entry] of list.entries()) {
      for (const [group, others] of Object.entries(objectOf(entry))) {
        const isEvery = group === "*"
        const written = listOf(others).flatMap((one) => textOf(one) ?? [])
        const missing = [...(isEvery ? [] : [group]), ...written].filter((one) => !this.groups.has(one))
        if (missing.length > 0) this.leave(`${path}[${index}]`, `there is no model ${missing.join(", ")} here`)
        const served = written.filter((one) => this.groups.has(one))
        for (const one of isEvery ? this.groups.keys() : this.groups.has(group) ? [group] : []) {
          const next = served.filter((other) => other !== one)
          if (next.length > 0 && !read.has(one)) read.set(one, next)
        }
      }
    }
    return read
  }
}

const targetOf = ({ model, slug, target }: Placed): JsonObject => ({
  provider: slug,
  override_params: { model },
  ...target
})

/** Deployments of one order share the load; those of a higher order wait for failures of the lower ones. */
const groupTarget = (deployments: ReadonlyArray<Placed>): JsonObject => {
  const orders = [...Map.groupBy(deployments, ({ order }) => order)]
    .toSorted(([one], [other]) => one - other)
    .map(([, ofOrder]): JsonObject => {
      const [only] = ofOrder
      if (ofOrder.length > 1 || only === undefined)
        return { strategy: { mode: "loadbalance" }, targets: ofOrder.map(targetOf) }
      const { weight: _, ...target } = targetOf(only)
      return target
    })
  const [first] = orders
  return orders.length === 1 && first !== undefined ? first : { strategy: { mode: "fallback" }, targets: orders }
}

/** A name stands for one model by an alias; everything else needs a config. */
const needsConfig = (deployments: ReadonlyArray<Placed>): boolean =>
  deployments.length > 1 || deployments.some(({ target }) => Object.keys(target).some((name) => name !== "weight"))

const routesOf = (reader: Reader, fallbacks: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<JsonObject> =>
  [...reader.groups]
    .filter(([name, deployments]) => needsConfig(deployments) || fallbacks.has(name))
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

/** LiteLLM's named credentials; each stands for members of a deployment. */
const credentialsOf = (list: Json | undefined): ReadonlyMap<string, JsonObject> =>
  new Map(
    listOf(list).flatMap((entry) => {
      const { credential_name, credential_values } = objectOf(entry)
      const name = textOf(credential_name)
      return name === undefined ? [] : [[name, objectOf(credential_values)] as const]
    })
  )

/** Fallbacks of the router, else of LiteLLM's own settings. */
const fallbacksOf = (reader: Reader, router: JsonObject, settings: JsonObject) => {
  const isRouter = router["fallbacks"] !== undefined || router["default_fallbacks"] !== undefined
  const { default_fallbacks, fallbacks } = isRouter ? router : settings
  return reader.fallbacks(
    [...listOf(fallbacks), ...(default_fallbacks === undefined ? [] : [{ "*": default_fallbacks }])],
    `${isRouter ? "router" : "litellm"}_settings.fallbacks`
  )
}

const leaveUnread = (reader: Reader, general: JsonObject, settings: JsonObject, router: JsonObject): void => {
  reader.leaveOthers("general_settings", general, ["master_key"])
  const routing = ["fallbacks", "default_fallbacks", "num_retries"]
  reader.leaveOthers("litellm_settings", settings, [
    ...routing,
    "drop_params",
    "request_timeout",
    "max_budget",
    "budget_duration"
  ])
  const redis = ["redis_url", "redis_host", "redis_port", "redis_password"]
  reader.leaveOthers("router_settings", router, [...routing, ...redis, "model_group_alias", "timeout"])
}

/** The settings that serve the same model names as this configuration of LiteLLM, and what they leave out. */
export const readLitellm = (file: Json): Result.Result<Imported, string> => {
  if (!isJsonObject(file) || !Array.isArray(file["model_list"]))
    return Result.fail("is no configuration of LiteLLM: it has no model_list")
  const { credential_list, general_settings, litellm_settings, model_list, router_settings, ...others } = file
  const general = objectOf(general_settings)
  const settings = objectOf(litellm_settings)
  const router = objectOf(router_settings)
  const reader = new Reader()
  for (const name of Object.keys(others)) reader.leave(name, "has no counterpart here")
  reader.readModels(listOf(model_list), credentialsOf(credential_list))
  reader.readAliases(objectOf(router["model_group_alias"]), "router_settings.model_group_alias")
  const routes = routesOf(reader, fallbacksOf(reader, router, settings))
  const config = routes.length === 0 ? undefined : configId
  // Every group has an alias: it is listed, and served to keys without the config as well.
  const aliases = [...reader.groups].flatMap(([name, [first]]) =>
    first === undefined ? [] : [[name, `@${first.slug}/${first.model}`] as const]
  )
  const keys = keysOf(general, config, budgetOf(settings, reader), reader)
  if (config !== undefined)
    reader.leave(
      "model_list",
      `a further key needs \`keys create --config ${config}\` for more than the first deployment`
    )
  leaveUnread(reader, general, settings, router)
  return Result.succeed({
    settings: present({
      providers: reader.accounts.entries,
      models: reader.models.size === 0 ? undefined : Object.fromEntries(reader.models),
      aliases: aliases.length === 0 ? undefined : Object.fromEntries(aliases),
      configs: config === undefined ? undefined : { [config]: configOf(routes, retryOf(router, settings)) },
      keys,
      redis: redisOf(router)
    }),
    left: reader.left
  })
}
