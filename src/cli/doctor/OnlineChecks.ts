// What `doctor --online` finds out about models: whether each provider has those that the configuration names (M-721).
// It must not know why a configuration names a model. It sends nothing that costs money.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { fixedHeaders, geminiHost, upstreamUrl } from "../../provider/route.ts"
import type { PlacedModel } from "../../domain/models/modelLife.ts"
import { type Finding, okFinding, warnFinding } from "../Output.ts"
import { countTokensPath, helloMessages, readJsonObject, type ProviderServices } from "./ProviderChecks.ts"

const check = "models"
const bytes = 10_000_000

const idsOf = (models: Json | undefined): ReadonlyArray<string> =>
  Array.isArray(models)
    ? models.flatMap((model) => {
        const name: Json | undefined = isJsonObject(model) ? model["name"] : undefined
        return typeof name === "string" ? [name.replace(/^models\//, "")] : []
      })
    : []

/** The ids that the Gemini API lists for an account; undefined where it gives no list. */
const listedBy = (
  account: ProviderAccount,
  { millis, tokens, transport }: ProviderServices
): Effect.Effect<ReadonlySet<string> | undefined> => {
  const page = (token: string): Effect.Effect<JsonObject | undefined> => {
    const url = upstreamUrl(
      account,
      geminiHost,
      `/${account.api_version ?? "v1beta"}/models`,
      `?pageSize=1000${token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`}`
    )
    if (Result.isFailure(url)) return Effect.succeed(undefined)
    const times = { connectMillis: millis, firstByteMillis: millis, idleMillis: millis, totalMillis: millis }
    const request = (auth: Effect.Success<ReturnType<ProviderServices["tokens"]["authorization"]>>) =>
      ({
        method: "GET",
        url: url.success,
        headers: fixedHeaders(account),
        auth,
        body: undefined,
        tls: account.tls,
        ...times
      }) as const
    return Effect.flatMap(tokens.authorization(account), (auth) =>
      transport.collect(request(auth), { replyBytes: bytes, errorBytes: bytes })
    ).pipe(
      Effect.map(({ bytes: text, status }) =>
        status === 200 ? readJsonObject(new TextDecoder().decode(text)) : undefined
      ),
      Effect.orElseSucceed(() => undefined)
    )
  }
  const from = (token: string, before: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string> | undefined> =>
    Effect.flatMap(page(token), (json) => {
      if (json === undefined) return Effect.succeed(undefined)
      const ids = [...before, ...idsOf(json["models"])]
      const next = json["nextPageToken"]
      return typeof next === "string" && next !== "" && next !== token ? from(next, ids) : Effect.succeed(new Set(ids))
    })
  return from("", [])
}

const missing = ({ at, modelId }: PlacedModel, slug: string): Finding =>
  warnFinding(check, `${at}: @${slug} does not list ${modelId}`, "correct the id, or post the provider for access")

const onGoogle = (
  account: ProviderAccount,
  models: ReadonlyArray<PlacedModel>,
  services: ProviderServices
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(listedBy(account, services), (listed) => {
    if (listed === undefined) return [warnFinding(check, `@${account.slug} gives no list of its models`)]
    const absent = models.filter(({ modelId }) => !listed.has(modelId))
    return absent.length === 0
      ? [okFinding(check, `@${account.slug} lists each of its ${models.length} models`)]
      : absent.map((model) => missing(model, account.slug))
  })

/** Vertex AI has no list for a project: a count of tokens per model shows whether it is there. */
const onVertex = (
  account: ProviderAccount,
  models: ReadonlyArray<PlacedModel>,
  { post, models: table }: ProviderServices
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(
    Effect.forEach(
      models.filter(({ modelId }) => table.find(modelId).record.operation !== "predict"),
      (model) => {
        const prefix = table.find(model.modelId).record.family === "claude" ? "anthropic." : ""
        const body = { model: `@${account.slug}/${prefix}${model.modelId}`, messages: helloMessages }
        return Effect.map(post(countTokensPath, body, false), ({ status }) =>
          status === 404 ? [missing(model, account.slug)] : []
        )
      }
    ),
    (rows) => rows.flat()
  )

/** One row for each model that its provider does not have. */
export const onlineFindings = (
  placed: ReadonlyArray<PlacedModel>,
  services: ProviderServices
): Effect.Effect<ReadonlyArray<Finding>> => {
  const accounts = [...new Set(placed.map(({ account }) => account))].filter(
    (account) => account?.credentials !== undefined
  )
  return Effect.map(
    Effect.forEach(accounts, (account) => {
      if (account === undefined) return Effect.succeed([])
      const models = placed.filter((one) => one.account === account)
      if (account.kind === "google") return onGoogle(account, models, services)
      return account.kind === "vertex-ai" ? onVertex(account, models, services) : Effect.succeed([])
    }),
    (rows) => rows.flat()
  )
}
