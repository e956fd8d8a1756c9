// The catalogs of the configuration in use: accounts by slug, configs by id, compiled prompts by reference.
// It must not know requests, keys, or how an account, config or prompt is used.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { builtInModels, type ModelOverlays, type ModelTable, modelTable } from "../domain/models/modelTable.ts"
import type { CatalogView, ProviderAccount } from "../domain/ProviderAccount.ts"
import { noServing, type ServingRules } from "../domain/serving.ts"
import { ConfigSnapshot, type Declarations } from "../store/ConfigSnapshot.ts"
import { mergedAccounts, MergedConfigs } from "./mergedRecords.ts"
import * as Result from "effect/Result"
import { FairEntries } from "../domain/collections.ts"
import { type Fault, faultAt } from "../domain/faults.ts"
import type { GatewayConfig } from "../domain/config/GatewayConfig.ts"
import { parseInnerJsonText } from "../domain/text/innerJson.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { readConfig } from "../domain/config/readConfig.ts"
import { newestIn } from "../store/StoredRecord.ts"
import { type Prompt, promptFinder } from "../domain/Prompt.ts"
import { type CompiledPrompts, compilePrompts, MergedPrompts, type ReadyPrompt } from "./mergedPrompts.ts"

export class Catalog extends Context.Service<
  Catalog,
  CatalogView & {
    /** An immutable view of the current accounts. Several lookups in one view are consistent with each other. */
    readonly now: () => CatalogView
  }
>()("gateway/catalog/Catalog") {
  /** The declared accounts and those of the store; each lookup uses the current snapshot. */
  static readonly layer: Layer.Layer<Catalog, never, ConfigSnapshot> = Layer.effect(
    Catalog,
    Effect.gen(function* () {
      const view = yield* (yield* ConfigSnapshot).view(["provider"], (state) => {
        const { accounts, faults } = mergedAccounts(state)
        return { view: catalogOf(accounts, tableOf(state.declared.models), servingOf(state.declared)), faults }
      })
      return {
        resolve: (slug) => view().resolve(slug),
        list: () => view().list(),
        get models() {
          return view().models
        },
        get serving() {
          return view().serving
        },
        now: view
      }
    })
  )

  /** A catalog of the given accounts; of two with the same slug the first wins. */
  static readonly layerMemory = (accounts: ReadonlyArray<ProviderAccount>): Layer.Layer<Catalog> =>
    Layer.sync(Catalog, () => {
      const view = catalogOf(accounts, builtInModels)
      return { ...view, now: () => view }
    })
}

const tableOf = (overlays: ModelOverlays | undefined): ModelTable =>
  overlays === undefined ? builtInModels : modelTable(overlays)

const servingOf = ({ aliases = {}, attribution, defaults = {}, messages }: Declarations): ServingRules => ({
  aliases,
  defaults,
  ...(messages === undefined ? {} : { otherModels: { messages: messages.otherModels } }),
  ...(attribution?.labels === undefined ? {} : { labels: attribution.labels })
})

const catalogOf = (
  accounts: ReadonlyArray<ProviderAccount>,
  models: ModelTable,
  serving: ServingRules = noServing
): CatalogView => {
  const bySlug = new Map(accounts.toReversed().map((account) => [account.slug, account]))
  const list = accounts.filter((account) => bySlug.get(account.slug) === account)
  return { resolve: (slug) => bySlug.get(slug), list: () => list, models, serving }
}

// Gateway configs: finds stored and declared ones by id, and compiles and caches inline ones.

const configViews = new WeakMap<ConfigSnapshot["Service"], () => MergedConfigs>()

/** The configs as they change; all users of a snapshot share them. A changed provider reads them again. */
export const mergedConfigsView: Effect.Effect<() => MergedConfigs, never, ConfigSnapshot> = Effect.gen(function* () {
  const snapshot = yield* ConfigSnapshot
  const limits = yield* Limits
  const known = configViews.get(snapshot)
  if (known !== undefined) return known
  const view = yield* snapshot.track({
    kind: "config",
    rebuiltBy: ["provider"],
    build: (state) => new MergedConfigs(state, limits),
    change: (view, { records }, ids) => {
      for (const id of ids) view.put(id, newestIn(records.config, id))
    }
  })
  configViews.set(snapshot, view)
  return view
})

export class Configs extends Context.Service<
  Configs,
  {
    readonly find: (id: string) => GatewayConfig | undefined
    /** Compiles a config from JSON text and caches it for the gateway key that sent it. */
    readonly read: (text: string, keyId: string) => Result.Result<GatewayConfig, Fault>
  }
>()("gateway/catalog/Configs") {
  /** The declared configs and those of the store; each lookup uses the current snapshot. */
  static readonly layer: Layer.Layer<Configs, never, ConfigSnapshot> = Layer.effect(
    Configs,
    Effect.gen(function* () {
      const limits = yield* Limits
      const view = yield* mergedConfigsView
      return { find: (id) => view().find(id), read: configReader(limits) }
    })
  )

  /** A catalog of the given configs only. */
  static readonly layerMemory = (configs: Readonly<Record<string, GatewayConfig>>): Layer.Layer<Configs> =>
    Layer.effect(
      Configs,
      Effect.map(Limits, (limits) => {
        const known = new Map(Object.entries(configs))
        return { find: (id) => known.get(id), read: configReader(limits) }
      })
    )
}

/** Compiles and caches texts. A full cache evicts the oldest config of the key that holds the most. */
const configReader = (limits: LimitValues): Configs["Service"]["read"] => {
  const texts = new FairEntries<Result.Result<GatewayConfig, Fault>>(limits.configEntries, limits.configBytes)
  const parsed = (text: string): Result.Result<GatewayConfig, Fault> => {
    const value = parseInnerJsonText(text, limits)
    return Result.isFailure(value) ? Result.fail(faultAt([], "is not JSON")) : readConfig(value.success, limits)
  }
  return (text, keyId) => {
    const cached = texts.get(text)
    if (cached !== undefined) return cached
    const config = parsed(text)
    // Each target contains everything it inherits, so the size grows with the number of targets.
    const bytes = text.length * Math.max(1, Result.isSuccess(config) ? config.success.targets.length : 1)
    if (bytes <= limits.configBytes) texts.set(keyId, text, config, bytes)
    return config
  }
}

// The compiled prompts of the operator and the store, found by reference.

const promptViews = new WeakMap<ConfigSnapshot["Service"], () => MergedPrompts>()

/** The prompts as they change; all users of a snapshot share them. A changed provider reads them again. */
export const mergedPromptsView: Effect.Effect<() => MergedPrompts, never, ConfigSnapshot> = Effect.gen(function* () {
  const snapshot = yield* ConfigSnapshot
  const limits = yield* Limits
  const known = promptViews.get(snapshot)
  if (known !== undefined) return known
  const view = yield* snapshot.track({
    kind: "prompt",
    rebuiltBy: ["provider"],
    build: (state) => new MergedPrompts(state, limits),
    change: (view, { records }, ids) => view.put(records.prompt, ids)
  })
  promptViews.set(snapshot, view)
  return view
})
export class Prompts extends Context.Service<
  Prompts,
  {
    /** The prompt that a reference `id`, `id@3` or `id@label` means; undefined for a partial. */
    readonly find: (reference: string) => ReadyPrompt | undefined
  }
>()("gateway/catalog/Prompts") {
  /** The declared prompts and those of the store; each lookup uses the current snapshot. */
  static readonly layer: Layer.Layer<Prompts, never, ConfigSnapshot> = Layer.effect(
    Prompts,
    Effect.gen(function* () {
      const view = yield* mergedPromptsView
      return { find: (reference) => view().find(reference) }
    })
  )

  /** The given prompts only. An invalid template is a defect here, because the caller checks declared prompts first. */
  static readonly layerMemory = (declared: ReadonlyArray<Prompt>): Layer.Layer<Prompts> =>
    Layer.effect(
      Prompts,
      Effect.gen(function* () {
        const { faults, prompts } = compilePrompts(declared, yield* Limits)
        const [fault] = faults
        if (fault !== undefined)
          return yield* Effect.die(new Error(`The prompt "${fault.id}" cannot be used: ${fault.message}.`))
        return { find: promptFinderOf(declared, prompts) }
      })
    )
}

const promptFinderOf = (
  declared: ReadonlyArray<Prompt>,
  ready: CompiledPrompts["prompts"]
): Prompts["Service"]["find"] => {
  const find = promptFinder(declared)
  return (reference) => {
    const version = find(reference)
    return version === undefined ? undefined : ready.get(version.content)
  }
}
