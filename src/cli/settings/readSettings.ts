// Reads Settings from the parsed file, the environment and the flags, or reports every fault of them together.
// Must not know where the file was found. A secret never enters a fault; a repaired configuration is never served.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import {
  type Fault,
  faultAt,
  type FaultPath,
  faultsOfIssue,
  isNamed,
  quoteValue,
  unreadName
} from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { type KeyScope, keyFaults } from "../../domain/GatewayKey.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import type { KeySetting, Settings } from "../../domain/settings/Settings.ts"
import { type SettingsFile, settingsFile } from "../../domain/settings/settingsFile.ts"
import { priceFaults } from "../../domain/Usage.ts"
import { readAccounts, readNetworks } from "./readAccounts.ts"
import { readConfigs } from "../../domain/config/readConfigs.ts"
import { readPrompts } from "../../catalog/mergedPrompts.ts"
import { readModels, servingFaults } from "./readModels.ts"
import {
  applyOverrides,
  collectOverrides,
  type Environment,
  type FileText,
  type Flags,
  nameOrigin,
  originOf,
  type Override,
  type References,
  substitute
} from "./environment.ts"
import { type Places, readExport, readServer, readStore, workersFaults } from "./readSections.ts"

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
  /** Where `{ file }` and `{ secret }` lead; nowhere unless set. */
  readonly references?: References
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

const keySectionFaults = (file: SettingsFile, accounts: ReadonlyArray<ProviderAccount>): ReadonlyArray<Fault> => {
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
      ...keyFaults(one, { slugs, configs, prompts }, at)
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
    ? { keys: [{ name, key: Redacted.make(key), scopes }], faults: [] }
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
  ...(file.telemetry?.end_user === undefined ? {} : { endUser: file.telemetry.end_user }),
  ...(file.telemetry?.usage_metadata === undefined
    ? {}
    : { usageMetadata: [...new Set(file.telemetry.usage_metadata)].sort() }),
  ...(file.telemetry?.propagate_upstream === undefined ? {} : { propagateUpstream: file.telemetry.propagate_upstream }),
  ...(file.native === undefined ? {} : { native: file.native }),
  ...(file.media?.fetch === undefined ? {} : { media: { fetch: file.media.fetch } }),
  ...(file.messages?.other_models === undefined ? {} : { messages: { otherModels: file.messages.other_models } }),
  ...(file.responses?.store === undefined ? {} : { responses: { keep: file.responses.store === "on" } })
})

/** `GCE_METADATA_HOST`, as Google's own libraries take it: a host with a port, or an address. */
export const metadataServer = (env: Environment): Pick<Settings, "metadataUrl"> => {
  const host = env["GCE_METADATA_HOST"]
  return host ? { metadataUrl: /^https?:\/\//.test(host) ? host.replace(/\/$/, "") : `http://${host}` } : {}
}

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
      keys: [
        ...(file.keys ?? []).map((entry) => ({ ...entry, key: Redacted.make(entry.key) })),
        ...ambient.keys,
        ...admin.keys
      ],
      limits,
      ...(prompts.prompts.length === 0 ? {} : { prompts: prompts.prompts }),
      configs: configs.configs,
      ...(file.redis?.url === undefined ? {} : { redis: Redacted.make(file.redis.url) }),
      ...Struct.pick(file, ["log", "prices", "defaults", "aliases", "attribution"]),
      ...(models.models === undefined ? {} : { models: models.models }),
      ...(stored?.setting === undefined ? {} : { store: stored.setting }),
      ...(exported.setting === undefined ? {} : { export: exported.setting }),
      ...network.value,
      ...switches(file),
      ...(credentialsFile ? { applicationCredentialsFile: credentialsFile } : {}),
      ...metadataServer(input.env)
    },
    faults: [
      ...server.hostFaults,
      ...(stored?.faults ?? []),
      ...server.otherFaults,
      ...workersFaults(file.server ?? {}, stored?.setting),
      ...redisFaults(file.redis?.url),
      ...faults,
      ...keySectionFaults(file, accounts),
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
  const substituted = substitute(file, input.env, input.references)
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

// Repairs a configuration with faults of shape, so that the same run can also check its meaning.

/** A configuration to check, and the paths in it that were repaired. */
interface RepairedConfiguration {
  readonly value: JsonObject
  readonly places: ReadonlyArray<FaultPath>
}

const provider: Json = { slug: unreadName, provider: "vertex-ai" }
const key: Json = { name: unreadName, key: unreadName }

/** Valid values for required members and for members that others refer to. Without them those would be faults too. */
const placeholders: Readonly<Record<string, Json>> = {
  providers: [provider],
  "providers[]": provider,
  "providers[].slug": unreadName,
  // Every field is allowed for this kind.
  "providers[].provider": "vertex-ai",
  "keys[]": key,
  "keys[].name": unreadName,
  "keys[].key": unreadName,
  prompts: [{ id: unreadName, text: "" }],
  "prompts[]": { id: unreadName, text: "" },
  "prompts[].id": unreadName,
  "prompts[].text": "",
  "prompts[].messages": [{ role: "user", content: "" }],
  configs: { [unreadName]: {} },
  "configs.*": {}
}

const placeholderFor = (path: FaultPath): Json | undefined => {
  const [section, second] = path
  // Errors name a target by its index, and removing a target would shift the others.
  if (section === "configs" && typeof path.at(-1) === "number" && path.at(-2) === "targets") return {}
  if (section === "configs" && path.length === 2) return placeholders["configs.*"]
  const name = path.map((part, index) => (typeof part === "number" ? "[]" : index === 0 ? part : `.${part}`)).join("")
  return path.length <= 3 && (path.length < 3 || typeof second === "number") && Object.hasOwn(placeholders, name)
    ? placeholders[name]
    : undefined
}

const memberOf = (value: Json | undefined, part: string | number): Json | undefined => {
  if (Array.isArray(value)) return typeof part === "number" ? value[part] : undefined
  return isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
}

/** The value with another value at the path. Undefined removes the member. */
const replaceAt = (value: Json | undefined, [part, ...rest]: FaultPath, put: Json | undefined): Json | undefined => {
  if (part === undefined) return put
  if (Array.isArray(value))
    return value.map((item: Json, index) => (index === part ? (replaceAt(item, rest, put) ?? null) : item))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([name]) => name !== part)
  const member = replaceAt(memberOf(value, part), rest, put)
  return Object.fromEntries(member === undefined ? members : [...members, [String(part), member]])
}

/** The nearest path, at or above this one, that can be replaced by a placeholder or removed. */
const nearestRepairable = (value: JsonObject, path: FaultPath): FaultPath => {
  const isThere = path.reduce<Json | undefined>(memberOf, value) !== undefined
  const isItem = typeof path.at(-1) === "number"
  return path.length <= 1 || placeholderFor(path) !== undefined || (isThere && !isItem)
    ? path
    : nearestRepairable(value, path.slice(0, -1))
}

/** Repairs each fault at its own path, or above it where a member is required. */
const repairFaults = (
  { value, places }: RepairedConfiguration,
  faults: ReadonlyArray<FaultPath>
): RepairedConfiguration => {
  let sound = value
  const changed = [...places]
  for (const path of faults) {
    const place = nearestRepairable(sound, path)
    const next = replaceAt(sound, place, placeholderFor(place))
    if (isJsonObject(next)) sound = next
    changed.push(place)
  }
  return { value: sound, places: changed }
}

/** True for a fault at or below a repaired path: the repair causes it. */
const isRepaired = (places: ReadonlyArray<FaultPath>, at: FaultPath | undefined): boolean =>
  at !== undefined && places.some((place) => place.every((part, index) => at[index] === part))
