// Reads Settings from the parsed file, the environment and the flags, or reports every fault of them together.
// Must not know where the file was found. A secret never enters a fault.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fault, faultAt, type FaultPath, faultsOfIssue, quoteValue } from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { isNamed } from "../../domain/text/nearest.ts"
import type { KeyScope } from "../../domain/GatewayKey.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import { type KeySetting, type Settings } from "../../domain/settings/Settings.ts"
import { type SettingsFile, settingsFile } from "../../domain/settings/settingsFile.ts"
import { priceFaults, readPrices } from "../../domain/settings/PriceEntry.ts"
import { readAccounts } from "./readAccounts.ts"
import { isRepaired, type RepairedConfiguration, repairFaults } from "./mended.ts"
import { readConfigs } from "../../domain/config/readConfigs.ts"
import { noNames, readKey } from "../../domain/settings/readKey.ts"
import { readPrompts } from "../../catalog/readPrompts.ts"
import { readModels } from "./readModels.ts"
import { applyOverrides, collectOverrides, type Flags, nameOrigin, originOf, type Override } from "./overrides.ts"
import { readExport } from "./readExport.ts"
import { servingFaults } from "./readServing.ts"
import { readNetworks } from "./readNetwork.ts"
import { readServer, workersFaults } from "./readServer.ts"
import { type Places, readStore } from "./readStore.ts"
import { type Environment, type FileText, substitute } from "./substitute.ts"

export interface SettingsInput {
  /** The parsed file; null when there is none. */
  readonly file: Json
  readonly env: Environment
  readonly flags: Flags
  readonly fileText: FileText
  /** Text of a PEM file; `fileText` unless set. */
  readonly pemText?: FileText
  /** Text of a file of facts about models; `fileText` unless set. */
  readonly modelsText?: FileText
  /** Directories of this machine. Without them the settings have no store. */
  readonly places?: Places
}

const decode = Schema.decodeUnknownResult(settingsFile, { errors: "all", onExcessProperty: "error" })

/** The fault never quotes the URL: it may hold a password. */
const redisFaults = (url: string | undefined): ReadonlyArray<Fault> =>
  url === undefined || (/^rediss?:\/\/[^\s/]+(\/\d{0,5})?$/.test(url) && URL.canParse(url))
    ? []
    : [
        faultAt(
          ["redis", "url"],
          "is not an address of the form redis://host:6379 or rediss://user:password@host:6380/0"
        )
      ]

const keyGrammar = /^[\x21-\x7e]{8,256}$/
const keyFault = "must be 8 to 256 printable characters without spaces"

const keyFaults = (file: SettingsFile, accounts: ReadonlyArray<ProviderAccount>): ReadonlyArray<Fault> => {
  const keys = file.keys ?? []
  const slugs = accounts.map((account) => account.slug)
  const configs = Object.keys(file.configs ?? {})
  const prompts = (file.prompts ?? []).map(({ id }) => id)
  return keys.flatMap((one, index) => {
    const at: FaultPath = ["keys", index]
    const earlier = keys.slice(0, index)
    return [
      ...(earlier.some((other) => other.name === one.name)
        ? [faultAt([...at, "name"], `${quoteValue(one.name)} is declared twice`)]
        : []),
      ...(keyGrammar.test(one.key) ? [] : [faultAt([...at, "key"], keyFault)]),
      ...(earlier.some((other) => other.key === one.key)
        ? [faultAt([...at, "key"], "is the key of another name as well")]
        : []),
      ...readKey(one.name, one, { slugs, configs, prompts }, at).faults
    ]
  })
}

/** The slugs of `native` are those of providers. */
const nativeFaults = (file: SettingsFile, accounts: ReadonlyArray<ProviderAccount>): ReadonlyArray<Fault> =>
  Object.entries(file.native ?? {}).flatMap(([form, slug]) =>
    slug === undefined ||
    isNamed(
      slug,
      accounts.map((account) => account.slug)
    )
      ? []
      : [faultAt(["native", form], `${quoteValue(slug)} is not the slug of a provider`)]
  )

interface ReadKeys {
  readonly keys: ReadonlyArray<KeySetting>
  readonly faults: ReadonlyArray<Fault>
}

const environmentKey = (
  env: Environment,
  variable: string,
  name: string,
  scopes: ReadonlyArray<KeyScope>
): ReadKeys => {
  const key = env[variable]
  if (key === undefined || key === "") return { keys: [], faults: [] }
  return keyGrammar.test(key)
    ? { keys: [{ name, key: Redacted.make(key), providers: undefined, models: undefined, scopes }], faults: [] }
    : { keys: [], faults: [{ path: variable, message: keyFault, at: undefined }] }
}

/** The first fault of each path. Later faults at the same path follow from the first. */
const firstPerPlace = (faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> =>
  faults.filter((fault, index) => faults.findIndex((other) => other.path === fault.path) === index)

/** Limit of repair rounds. Each round repairs what the round before left incomplete. */
const mostRounds = 32

/** The configuration without its faults of shape: members at fault are removed or replaced by placeholders. */
const repairUntilReadable = (
  value: JsonObject,
  faults: ReadonlyArray<Fault>
): { readonly file: SettingsFile | undefined; readonly places: RepairedConfiguration["places"] } => {
  let mending = repairFaults({ value, places: [] }, placesOf(faults))
  for (let round = 0; round < mostRounds; round++) {
    const file = decode(mending.value)
    if (Result.isSuccess(file)) return { file: file.success, places: mending.places }
    mending = repairFaults(mending, placesOf(faultsOfIssue(file.failure.issue, mending.value)))
  }
  return { file: undefined, places: mending.places }
}

const placesOf = (faults: ReadonlyArray<Fault>): ReadonlyArray<FaultPath> =>
  faults.flatMap(({ at }) => (at === undefined ? [] : [at]))

/** Settings taken from the file unchanged, or under another name. */
const switches = (file: SettingsFile) => ({
  ...(file.telemetry?.accounting === undefined ? {} : { accounting: file.telemetry.accounting }),
  ...(file.telemetry?.key_label === undefined ? {} : { keyLabel: file.telemetry.key_label }),
  ...(file.telemetry?.usage_metadata === undefined
    ? {}
    : { usageMetadata: [...new Set(file.telemetry.usage_metadata)].sort() }),
  ...(file.telemetry?.propagate_upstream === undefined ? {} : { propagateUpstream: file.telemetry.propagate_upstream }),
  ...(file.native === undefined ? {} : { native: file.native }),
  ...(file.media?.fetch === undefined ? {} : { media: { fetch: file.media.fetch } }),
  ...(file.messages?.other_models === undefined ? {} : { messages: { otherModels: file.messages.other_models } }),
  ...(file.responses?.store === undefined ? {} : { responses: { keep: file.responses.store === "on" } })
})

/** Checks what the schema cannot express: grammars, credentials, and names that must exist or be unique. */
const checkMeaning = (
  file: SettingsFile,
  input: SettingsInput,
  over: ReadonlyArray<Override>
): { readonly settings: Settings; readonly faults: ReadonlyArray<Fault> } => {
  const server = readServer(file.server ?? {})
  const { accounts, faults } = readAccounts(file, input.env, input.fileText, input.pemText)
  const limits = {
    ...defaultLimits,
    ...file.limits,
    ...(file.long_decode === "off" ? { longDecodeCalls: 1 } : {}),
    ...(file.heal === "off" ? { heals: 0 } : {})
  }
  const prompts = readPrompts(file.prompts ?? [], accounts, limits)
  const configs = readConfigs(file.configs ?? {}, accounts, limits)
  const network = readNetworks(file, input.env, input.pemText ?? input.fileText)
  const models = readModels(file, input.modelsText ?? input.fileText)
  const ambient = environmentKey(input.env, "GATEWAY_API_KEY", "environment", ["inference"])
  const admin = environmentKey(input.env, "GATEWAY_ADMIN_KEY", "admin", ["admin"])
  const exported = readExport(input.env)
  const storeOrigin = originOf("store.url", over) === undefined ? "file" : "environment"
  const stored =
    input.places === undefined ? undefined : readStore(file.store?.url, storeOrigin, input.env, input.places)
  const credentialsFile = input.env["GOOGLE_APPLICATION_CREDENTIALS"]
  return {
    settings: {
      server: server.setting,
      accounts,
      keys: [...(file.keys ?? []).map(keySetting), ...ambient.keys, ...admin.keys],
      limits,
      ...(prompts.prompts.length === 0 ? {} : { prompts: prompts.prompts }),
      configs: configs.configs,
      ...(file.redis?.url === undefined ? {} : { redis: Redacted.make(file.redis.url) }),
      ...(file.log === undefined ? {} : { log: file.log }),
      ...(file.prices === undefined ? {} : { prices: readPrices(file.prices) }),
      ...(models.models === undefined ? {} : { models: models.models }),
      ...(file.defaults === undefined ? {} : { defaults: file.defaults }),
      ...(file.aliases === undefined ? {} : { aliases: file.aliases }),
      ...(stored?.setting === undefined ? {} : { store: stored.setting }),
      ...(exported.setting === undefined ? {} : { export: exported.setting }),
      ...network.value,
      ...switches(file),
      ...(credentialsFile === undefined || credentialsFile === ""
        ? {}
        : { applicationCredentialsFile: credentialsFile })
    },
    faults: [
      ...server.hostFaults,
      ...(stored?.faults ?? []),
      ...server.otherFaults,
      ...workersFaults(file.server ?? {}, stored?.setting),
      ...redisFaults(file.redis?.url),
      ...faults,
      ...keyFaults(file, accounts),
      ...nativeFaults(file, accounts),
      ...priceFaults(file.prices ?? {}),
      ...prompts.faults,
      ...configs.faults,
      ...models.faults,
      ...network.faults,
      ...servingFaults(
        file,
        accounts.map(({ slug }) => slug)
      ),
      ...ambient.faults,
      ...admin.faults,
      ...exported.faults
    ]
  }
}

/** The settings without faults, or with faults of credentials alone, whose accounts then have none. */
export interface JudgedSettings {
  readonly settings: Settings | undefined
  readonly faults: ReadonlyArray<Fault>
}

/** The settings, or all faults. */
export const readSettings = (input: SettingsInput): Result.Result<Settings, ReadonlyArray<Fault>> => {
  const { faults, settings } = judgeSettings(input)
  return settings === undefined || faults.length > 0 ? Result.fail(faults) : Result.succeed(settings)
}

/**
 * Precedence: flags, variables, file, defaults.
 * Variables without the prefix `GATEWAY_` only fill what the file leaves open on the two built-in slugs.
 */
export const judgeSettings = (input: SettingsInput): JudgedSettings => {
  const file = input.file ?? {}
  if (!isJsonObject(file))
    return { settings: undefined, faults: [faultAt([], "the configuration must be a mapping of keys")] }
  const over = collectOverrides(input.env, input.flags)
  const substituted = substitute(file, input.env)
  const value = applyOverrides(isJsonObject(substituted.value) ? substituted.value : {}, over)
  const whole = decode(value)
  const shapeFaults = Result.isFailure(whole) ? faultsOfIssue(whole.failure.issue, value) : []
  const unread = [...substituted.faults, ...shapeFaults]
  const sound = repairUntilReadable(value, shapeFaults)
  const unjudged = [...placesOf(substituted.faults), ...sound.places]
  const rest = sound.file === undefined ? undefined : checkMeaning(sound.file, input, over)
  const meant = (rest?.faults ?? []).filter(({ at }) => !isRepaired(unjudged, at))
  const faults = firstPerPlace([...unread, ...meant]).map((fault) => nameOrigin(fault, over))
  return {
    settings: faults.every(({ isOfCredential }) => isOfCredential === true) ? rest?.settings : undefined,
    faults
  }
}

const keySetting = (one: NonNullable<SettingsFile["keys"]>[number]): KeySetting => {
  const { id: _, ...key } = readKey(one.name, one, noNames).key
  return { ...key, key: Redacted.make(one.key) }
}
