// POST /admin/v1/check: the faults and notices of a config before it is saved, and where it would send a request.
// It must not depend on how a config is kept. It saves nothing and calls no provider.
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Administration } from "../../admin/Administration.ts"
import { invalidRecord } from "../../admin/Managed.ts"
import { resourceReader } from "../../admin/readBody.ts"
import { type ConfigCheck, ConfigCheckBody } from "../../api/admin/ConfigCheck.ts"
import { errorFacts } from "../../api/errorFacts.ts"
import type { GatewayConfig } from "../../domain/config/GatewayConfig.ts"
import { renderPath } from "../../domain/faults.ts"
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { type CatalogView, nothingCarried } from "../../domain/ProviderAccount.ts"
import { noNames, readKey } from "../../domain/settings/readKey.ts"
import { dayOf } from "../../domain/text/days.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { resolveTargets } from "../../router/plan/plan.ts"
import { type SimulatedNode, simulateConfig } from "../../router/plan/simulate.ts"
import { roundToMicros } from "../../telemetry/requestLines.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { textReader } from "../request/ReadBody.ts"
import { answered } from "./AdminAnswer.ts"

type Body = typeof ConfigCheckBody.Type
type Simulated = Pick<ConfigCheck, "plan" | "refused">

const readBody = resourceReader(ConfigCheckBody)

/** A key without limits, for requests of no certain key. */
const anyKey: GatewayKey = { id: "check", name: "check", providers: undefined, models: undefined, scopes: [] }

const shownNode = ({ at, mode, planned, reached, share, why }: SimulatedNode) => ({
  path: renderPath(["config", ...at]),
  ...(mode === undefined ? {} : { mode }),
  ...(planned === undefined ? {} : { provider: planned.account.slug, model: planned.modelId }),
  reached,
  share: roundToMicros(share),
  why
})

/** Where the config sends a chat completion of this key; no circuit counts as open. */
const simulated = (
  config: GatewayConfig,
  { id, request }: Body,
  key: GatewayKey,
  catalog: CatalogView,
  { conditionSteps }: LimitValues
): Simulated => {
  if (request === undefined) return {}
  const { body, metadata, provider: header } = request
  const model = typeof body["model"] === "string" ? body["model"] : (config.model ?? "")
  const facts = () => ({
    metadata: {
      ...key.metadata,
      ...config.metadata,
      ...metadata,
      ...(key.metadataLocked === true ? key.metadata : {})
    },
    params: body,
    path: "/v1/chat/completions" as const
  })
  const plan = Result.flatMap(
    resolveTargets(config, { model, header, key, carried: nothingCarried, configId: id }, catalog),
    ({ fault, targets }) =>
      fault === undefined ? simulateConfig(config, targets, { facts, conditionSteps }) : Result.fail(fault)
  )
  if (Result.isSuccess(plan)) return { plan: plan.success.map(shownNode) }
  const { code, message } = errorFacts(plan.failure)
  return { refused: { code, message } }
}

export const AdminChecks = keyedRoute(
  "POST",
  "/admin/v1/check",
  Effect.gen(function* () {
    const { configs, keys } = yield* Administration
    const limits = yield* Limits
    const read = yield* textReader<JsonObject>((body) => Result.succeed(body), "adminBodyBytes")
    return Effect.fnUntraced(function* ({ catalog, incoming }) {
      const written = yield* read(incoming)
      const body = yield* Effect.mapError(Effect.fromResult(readBody(written)), invalidRecord)
      const keyId = body.request?.key
      const key = keyId === undefined ? anyKey : readKey(keyId, yield* keys.get(keyId), noNames).key
      const today = dayOf(yield* Clock.currentTimeMillis)
      const { config, faults, notices } = configs.check({ id: body.id ?? "draft", config: written["config"] }, today)
      const result: ConfigCheck = {
        object: "config_check",
        ok: faults.length === 0,
        faults: faults.map(({ message, path }) => ({ path, message })),
        notices: notices.map(({ at, kind, text }) => ({ path: at, kind, message: text })),
        ...(config === undefined ? {} : simulated(config, body, key, catalog, limits))
      }
      return answered(result, incoming)
    })
  }),
  "admin"
)
