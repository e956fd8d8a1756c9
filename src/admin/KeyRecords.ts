// Gateway keys of the admin API: creates, updates, rotates and revokes them. A key's text is returned once, when it is made.
// Must not know requests or what a key may ask for.
import { randomBytes } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Key, WrittenKeyBody } from "../api/AdminResources.ts"
import { mergedAccounts, type MergedConfigs } from "../catalog/mergedRecords.ts"
import { mergedConfigsView, mergedPromptsView } from "../catalog/Catalog.ts"
import type { MergedPrompts } from "../catalog/mergedPrompts.ts"
import { type Fault, faultAt } from "../domain/faults.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import { compileKey, defaultScopes, keyFaults, type KeyScope, type WrittenKey } from "../domain/GatewayKey.ts"
import { jsonObjectOf, type JsonObject } from "../domain/text/json.ts"

import type { KeySetting } from "../domain/settings/Settings.ts"
import { GatewayKeys, keyPrefix, makeKey, readKeyEntry, StoredKeyFields } from "../keys/GatewayKeys.ts"
import { ConfigSnapshot, type ConfigState } from "../store/ConfigSnapshot.ts"
import { type Actor, newestIn, newestOf, recordReader, type StoredRecord } from "../store/StoredRecord.ts"
import type { Records } from "../store/Records.ts"
import {
  type ChangeFault,
  type Changing,
  type Expected,
  invalidRecord,
  type Kind,
  type Managed,
  managing,
  type RunInTurn,
  unreadable
} from "./Managed.ts"
import { momentOf, resourceReader } from "./resourceReader.ts"

const keptReader = recordReader(StoredKeyFields)

const shownStored = (record: StoredRecord): Result.Result<Key, string> =>
  Result.map(readKeyEntry(record), (entry) => {
    const { digest: _digest, previous_digest: _previous, ...shown } = entry
    return {
      object: "key",
      id: record.id,
      ...shown,
      source: "store",
      version: record.version,
      created_at: momentOf(record.createdMillis),
      updated_at: momentOf(record.updatedMillis)
    }
  })

const shownDeclared = ({ key, ...record }: KeySetting): Key => {
  const prefix = keyPrefix(key)
  return {
    object: "key",
    id: record.name,
    ...record,
    ...(prefix === undefined ? {} : { prefix }),
    source: "file",
    managed: "file"
  }
}

const bodyReader = resourceReader(WrittenKeyBody)

/** The configs and prompts as they are now. */
interface NameViews {
  readonly heldConfigs: () => MergedConfigs
  readonly heldPrompts: () => MergedPrompts
}

/** The names that a key may use, of the kinds of things that it names. */
const knownNames = (
  { heldConfigs, heldPrompts }: NameViews,
  { config, configs, prompts, providers }: WrittenKey,
  state: ConfigState
) => ({
  slugs: providers === undefined ? [] : mergedAccounts(state).accounts.map(({ slug }) => slug),
  configs: config === undefined && configs === undefined ? [] : heldConfigs().ids,
  prompts: prompts === undefined ? [] : heldPrompts().all.map(({ id }) => id)
})

/** The written fields of a key, checked against the accounts, configs and prompts that it names. */
const judged = (
  views: NameViews,
  written: JsonObject,
  state: ConfigState
): Result.Result<WrittenKey, ReadonlyArray<Fault>> => {
  const { id: _, key, ...fields } = written
  return Result.flatMap(bodyReader(fields), (body) => {
    const faults = [
      ...(key === undefined || key === null
        ? []
        : [faultAt(["key"], "is made by the gateway, and returned in its answer")]),
      ...keyFaults(body, knownNames(views, body, state))
    ]
    return faults.length > 0 ? Result.fail(faults) : Result.succeed(body)
  })
}

/** The record of a stored key that is not revoked. */
const openKey = (record: StoredRecord): WrittenKey | undefined => {
  const entry = Result.getOrUndefined(readKeyEntry(record))
  return entry?.revoked_at === undefined ? entry : undefined
}

/** The same of all keys, declared or stored. */
const openKeys = ({ declared, records }: ConfigState): ReadonlyArray<WrittenKey> => [
  ...declared.keys,
  ...newestOf(records.key).flatMap((record) => openKey(record) ?? [])
]

/** Whether a key has this scope; expired keys count. */
export const hasKey = (state: ConfigState, scope: KeyScope): boolean =>
  openKeys(state).some(({ scopes = defaultScopes }) => scopes.includes(scope))

const isAdmin = (record: WrittenKey, nowMillis: number): boolean => {
  const { expiresMillis, scopes } = compileKey("", record)
  return scopes.includes("admin") && (expiresMillis === undefined || expiresMillis > nowMillis)
}

/** Whether the stored key of this id opens the admin API. */
const opensAdmin = ({ records }: ConfigState, id: string, nowMillis: number): boolean => {
  const record = newestIn(records.key, id)
  const key = record === undefined ? undefined : openKey(record)
  return key !== undefined && isAdmin(key, nowMillis)
}

/** Refuses to remove the last key with access to the admin API. The others are read only where one loses its access. */
const adminGuard: Kind<Key>["guard"] = (before, after, changed, nowMillis) =>
  opensAdmin(before, changed, nowMillis) &&
  !opensAdmin(after, changed, nowMillis) &&
  !openKeys(after).some((key) => isAdmin(key, nowMillis))
    ? new RecordRefused({
        code: "last_admin_key",
        message: `"${changed}" is the last key with the scope "admin"; make another one first.`
      })
    : undefined

/** Ids sort by creation time. */
const freshId = (nowMillis: number): string =>
  `key_${nowMillis.toString(36).padStart(9, "0")}${randomBytes(6).toString("hex")}`

export interface KeyRecords extends Managed<Key> {
  /** Makes the first key of this scope; undefined where a key has it. Of several concurrent processes one makes it. */
  readonly createFirst: (scope: KeyScope, actor: Actor) => Effect.Effect<Key | undefined, ChangeFault>
  /** Revokes the key: it is refused from now on and stays in the list. */
  readonly remove: (id: string, actor: Actor, expected?: Expected) => Effect.Effect<void, ChangeFault>
  /** Gives the key a new text. The old one is refused after `graceSeconds`, and from now on where that is 0. */
  readonly rotate: (
    id: string,
    actor: Actor,
    expected?: Expected,
    graceSeconds?: number
  ) => Effect.Effect<Key, ChangeFault>
  /** The name of the key of this id, for people; undefined for an unknown key. Revoked keys have theirs. */
  readonly nameOf: (id: string) => string | undefined
}

const thereIsOne = (scope: KeyScope): RecordRefused =>
  new RecordRefused({ code: "already_exists", message: `There is a key with the scope "${scope}" already.` })

/** A revoked key cannot be changed. */
const unrevoked = ({ id, value }: StoredRecord): Effect.Effect<void, RecordRefused> =>
  value["revoked_at"] === undefined
    ? Effect.void
    : Effect.fail(
        new RecordRefused({
          code: "key_revoked",
          message: `The key "${id}" is revoked, and that is for good; make a new one.`
        })
      )

interface KeyParts {
  readonly views: NameViews
  readonly changing: Changing<Key>
  /** The stored fields of a key's text. */
  readonly textFields: (text: string) => { readonly digest: string; readonly prefix: string }
}

/** `checkAllowed` fails where the existing keys exclude another one. */
const makeRecord = Effect.fnUntraced(function* (
  { changing: { insert, read }, textFields, views }: KeyParts,
  written: JsonObject,
  actor: Actor,
  checkAllowed: (state: ConfigState) => Effect.Effect<void, RecordRefused>
) {
  const text = makeKey()
  const id = freshId(yield* Clock.currentTimeMillis)
  const change = (state: ConfigState) =>
    Effect.andThen(
      checkAllowed(state),
      Effect.mapBoth(Effect.fromResult(judged(views, written, state)), {
        onFailure: invalidRecord,
        onSuccess: (body) => ({ id, content: { value: jsonObjectOf({ ...body, ...textFields(text) }) } })
      })
    )
  return { ...(yield* Effect.flatMap(insert(change, actor), read)), key: text }
})

const updateRecord =
  ({ changing: { edit, read }, views }: KeyParts): KeyRecords["update"] =>
  (id, written, actor, expected) =>
    Effect.flatMap(
      edit(
        id,
        actor,
        expected,
        Effect.fnUntraced(function* (before, state) {
          yield* unrevoked(before)
          // Only these fields stay. The other fields of the stored record need not be readable.
          const unsent = yield* Effect.mapError(Effect.fromResult(keptReader(before)), (why) =>
            unreadable("key", id, why)
          )
          const body = yield* Effect.mapError(Effect.fromResult(judged(views, written, state)), invalidRecord)
          return { value: jsonObjectOf({ ...body, ...unsent }) }
        })
      ),
      read
    )

const revokeRecord = ({ changing: { edit } }: KeyParts): KeyRecords["remove"] =>
  Effect.fnUntraced(function* (id, actor, expected) {
    const revoke = edit(
      id,
      actor,
      expected,
      Effect.fnUntraced(function* (before) {
        yield* unrevoked(before)
        return {
          value: { ...before.value, revoked_at: momentOf(yield* Clock.currentTimeMillis) },
          action: "revoke" as const
        }
      })
    )
    // Revoking a revoked key succeeds without a change.
    yield* Effect.catchIf(
      revoke,
      (error) => error._tag === "RecordRefused" && error.code === "key_revoked",
      () => Effect.void
    )
  })

/** The text before a rotation, while it is taken; a third text is taken of no key. */
const previousText = ({ value }: StoredRecord, graceSeconds: number, nowMillis: number): JsonObject =>
  graceSeconds === 0
    ? {}
    : {
        previous_digest: value["digest"],
        previous_until: momentOf(nowMillis + graceSeconds * 1000)
      }

const rotateRecord = ({ changing: { edit, read }, textFields }: KeyParts): KeyRecords["rotate"] =>
  Effect.fnUntraced(function* (id, actor, expected, graceSeconds = 0) {
    const text = makeKey()
    const record = yield* edit(
      id,
      actor,
      expected,
      Effect.fnUntraced(function* (before) {
        yield* unrevoked(before)
        const { previous_digest: _digest, previous_until: _until, ...rest } = before.value
        const previous = previousText(before, graceSeconds, yield* Clock.currentTimeMillis)
        return { value: { ...rest, ...textFields(text), ...previous }, action: "rotate" as const }
      })
    )
    return { ...(yield* read(record)), key: text }
  })

export const keyRecords = (turn: RunInTurn): Effect.Effect<KeyRecords, never, Records | ConfigSnapshot | GatewayKeys> =>
  Effect.gen(function* () {
    const views = { heldConfigs: yield* mergedConfigsView, heldPrompts: yield* mergedPromptsView }
    const keys = yield* GatewayKeys
    const changing = yield* managing<Key>(
      {
        kind: "key",
        declared: ({ declared }) => new Map(declared.keys.map((setting) => [setting.name, shownDeclared(setting)])),
        shown: shownStored,
        guard: adminGuard
      },
      turn
    )
    const textFields = (text: string) => ({
      digest: keys.digest(text),
      prefix: keyPrefix(Redacted.make(text)) ?? ""
    })
    const parts = { views, changing, textFields }
    const snapshot = yield* ConfigSnapshot
    return {
      ...changing,
      create: (written, actor) => makeRecord(parts, written, actor, () => Effect.void),
      createFirst: (scope, actor) =>
        makeRecord(parts, { name: scope, scopes: [scope] }, actor, (state) =>
          hasKey(state, scope) ? Effect.fail(thereIsOne(scope)) : Effect.void
        ).pipe(
          Effect.catchIf(
            (error) => error._tag === "RecordRefused" && error.code === "already_exists",
            () => Effect.undefined
          )
        ),
      update: updateRecord(parts),
      remove: revokeRecord(parts),
      rotate: rotateRecord(parts),
      nameOf: (id) => {
        const { declared, records } = snapshot.current()
        if (declared.keys.some((key) => key.name === id)) return id
        const name = newestIn(records.key, id)?.value["name"]
        return typeof name === "string" ? name : undefined
      }
    }
  })
