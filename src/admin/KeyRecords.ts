// Gateway keys as operators see and change them: made here, their text told once, revoked but never forgotten.
// It must not know requests or what a key may ask for.
import { randomBytes } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Key, WrittenKeyBody } from "../api/AdminResources.ts"
import { heldAccounts } from "../catalog/heldAccounts.ts"
import { heldConfigs } from "../catalog/heldConfigs.ts"
import { heldPrompts } from "../catalog/heldPrompts.ts"
import { type Fault, faultAt } from "../domain/faults.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import type { KeyScope } from "../domain/GatewayKey.ts"
import { jsonObjectOf, type JsonObject } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { momentMillis } from "../domain/text/moments.ts"
import { inference, readKey } from "../domain/settings/readKey.ts"
import type { KeySetting, WrittenKey } from "../domain/settings/Settings.ts"
import { dollarsOf } from "../domain/Usage.ts"
import { GatewayKeys, KeptOfKey, readKeyEntry } from "../keys/GatewayKeys.ts"
import { keyPrefix, makeKey } from "../keys/KeyText.ts"
import type { Held, Holdings } from "../store/Holdings.ts"
import { newestOf, recordReader } from "../store/readRecord.ts"
import type { Actor, Records, StoredRecord } from "../store/Records.ts"
import {
  type ChangeFault,
  type Expected,
  invalid,
  type Kind,
  type Managed,
  managing,
  type Turn,
  unreadable
} from "./Managed.ts"
import { momentOf, resourceReader } from "./readBody.ts"

const keptReader = recordReader(KeptOfKey)

const shownStored = (record: StoredRecord): Result.Result<Key, string> =>
  Result.map(readKeyEntry(record), (entry) => {
    const { digest: _, ...shown } = entry
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

/** Numbers and moments of a declared key in the words they were written in. */
const limitsOf = ({
  budget,
  concurrency,
  expiresMillis,
  rateLimit
}: KeySetting): Pick<WrittenKey, "budget" | "concurrency" | "expires_at" | "rate_limit"> => ({
  ...(rateLimit === undefined
    ? {}
    : {
        rate_limit: {
          ...(rateLimit.requestsPerMinute === undefined ? {} : { requests_per_minute: rateLimit.requestsPerMinute }),
          ...(rateLimit.tokensPerMinute === undefined ? {} : { tokens_per_minute: rateLimit.tokensPerMinute })
        }
      }),
  ...(budget === undefined ? {} : { budget: { usd: dollarsOf(budget.micros), per: budget.per } }),
  ...(concurrency === undefined ? {} : { concurrency }),
  ...(expiresMillis === undefined ? {} : { expires_at: momentOf(expiresMillis) })
})

const shownDeclared = (setting: KeySetting): Key => {
  const { config, configs, key, metadata, metadataLocked, models, name, prompts, providers, scopes } = setting
  const prefix = keyPrefix(key)
  return {
    object: "key",
    id: name,
    name,
    ...(scopes === undefined ? {} : { scopes }),
    ...(providers === undefined ? {} : { providers }),
    ...(models === undefined ? {} : { models }),
    ...(configs === undefined ? {} : { configs }),
    ...(prompts === undefined ? {} : { prompts }),
    ...limitsOf(setting),
    ...(config === undefined ? {} : { config }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(metadataLocked === undefined ? {} : { metadata_locked: metadataLocked }),
    ...(prefix === undefined ? {} : { prefix }),
    source: "file",
    managed: "file"
  }
}

const bodyReader = resourceReader(WrittenKeyBody)

/** What is written of a key, checked against what it names. */
const judged = (
  limits: LimitValues,
  written: JsonObject,
  held: Held
): Result.Result<WrittenKey, ReadonlyArray<Fault>> => {
  const { id: _, key, ...fields } = written
  return Result.flatMap(bodyReader(fields), (body) => {
    const known = {
      slugs: heldAccounts(held).accounts.map(({ slug }) => slug),
      configs: Object.keys(heldConfigs(held, limits).configs),
      prompts: heldPrompts(held, limits).prompts.map(({ id }) => id)
    }
    const faults = [
      ...(key === undefined || key === null
        ? []
        : [faultAt(["key"], "is made by the gateway, and told in its answer")]),
      ...readKey("", body, known).faults
    ]
    return faults.length > 0 ? Result.fail(faults) : Result.succeed(body)
  })
}

/** What keys that are not revoked are for and until when, be they declared or stored. */
const openKeys = ({ declared, records }: Held): ReadonlyArray<Pick<KeySetting, "scopes" | "expiresMillis">> => [
  ...declared.keys,
  ...newestOf(records.key).flatMap((record) => {
    const entry = Result.getOrUndefined(readKeyEntry(record))
    if (entry === undefined || entry.revoked_at !== undefined) return []
    const { expires_at: expires, scopes = inference } = entry
    return [{ scopes, ...(expires === undefined ? {} : { expiresMillis: momentMillis(expires) ?? 0 }) }]
  })
]

/** Whether a key has this scope, though its time may be over. */
export const hasKey = (held: Held, scope: KeyScope): boolean =>
  openKeys(held).some(({ scopes = inference }) => scopes.includes(scope))

const hasAdmin = (held: Held, nowMillis: number): boolean =>
  openKeys(held).some(
    ({ expiresMillis, scopes = inference }) =>
      scopes.includes("admin") && (expiresMillis === undefined || expiresMillis > nowMillis)
  )

/** Whoever takes away the last key that opens this API would find the door closed behind them. */
const adminGuard: Kind<Key>["guard"] = (before, after, changed, nowMillis) =>
  hasAdmin(before, nowMillis) && !hasAdmin(after, nowMillis)
    ? new RecordRefused({
        code: "last_admin_key",
        message: `"${changed}" is the last key with the scope "admin"; make another one first.`
      })
    : undefined

/** In the order they were made. */
const freshId = (nowMillis: number): string =>
  `key_${nowMillis.toString(36).padStart(9, "0")}${randomBytes(6).toString("hex")}`

export interface KeyRecords extends Managed<Key> {
  /** Makes a key of this scope where there is none; undefined where there is. Of several processes that try at once one makes it. */
  readonly createFirst: (scope: KeyScope, actor: Actor) => Effect.Effect<Key | undefined, ChangeFault>
  /** Revokes the key: it is refused from now on, and stays listed. */
  readonly remove: (id: string, actor: Actor, expected?: Expected) => Effect.Effect<void, ChangeFault>
  /** Gives the key another text; the one it had is refused from now on. */
  readonly rotate: (id: string, actor: Actor, expected?: Expected) => Effect.Effect<Key, ChangeFault>
}

const thereIsOne = (scope: KeyScope): RecordRefused =>
  new RecordRefused({ code: "already_exists", message: `There is a key with the scope "${scope}" already.` })

/** A key that is revoked changes no more. */
const unrevoked = ({ id, value }: StoredRecord): Effect.Effect<void, RecordRefused> =>
  value["revoked_at"] === undefined
    ? Effect.void
    : Effect.fail(
        new RecordRefused({
          code: "key_revoked",
          message: `The key "${id}" is revoked, and that is for good; make a new one.`
        })
      )

export const keyRecords = (turn: Turn): Effect.Effect<KeyRecords, never, Records | Holdings | GatewayKeys> =>
  Effect.gen(function* () {
    const limits = yield* Limits
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
    const { edit, insert, read } = changing
    /** What is kept of a new text. */
    const textPart = (text: string) => ({ digest: keys.digest(text), prefix: keyPrefix(Redacted.make(text)) ?? "" })
    /** `allowed` fails where the keys there are rule out another one. */
    const make = Effect.fnUntraced(function* (
      written: JsonObject,
      actor: Actor,
      allowed: (held: Held) => Effect.Effect<void, RecordRefused>
    ) {
      const text = makeKey()
      const id = freshId(yield* Clock.currentTimeMillis)
      const change = (held: Held) =>
        Effect.andThen(
          allowed(held),
          Effect.mapBoth(Effect.fromResult(judged(limits, written, held)), {
            onFailure: invalid,
            onSuccess: (body) => ({ id, content: { value: jsonObjectOf({ ...body, ...textPart(text) }) } })
          })
        )
      return { ...(yield* Effect.flatMap(insert(change, actor), read)), key: text }
    })

    return {
      ...changing,
      create: (written, actor) => make(written, actor, () => Effect.void),
      createFirst: (scope, actor) =>
        make({ name: scope, scopes: [scope] }, actor, (held) =>
          hasKey(held, scope) ? Effect.fail(thereIsOne(scope)) : Effect.void
        ).pipe(
          Effect.catchIf(
            (error) => error._tag === "RecordRefused" && error.code === "already_exists",
            () => Effect.undefined
          )
        ),
      update: (id, written, actor, expected) =>
        Effect.flatMap(
          edit(
            id,
            actor,
            expected,
            Effect.fnUntraced(function* (before, held) {
              yield* unrevoked(before)
              // This stays, whatever is written; what was written before need not be readable.
              const kept = yield* Effect.mapError(Effect.fromResult(keptReader(before)), (why) =>
                unreadable("key", id, why)
              )
              const body = yield* Effect.mapError(Effect.fromResult(judged(limits, written, held)), invalid)
              return { value: jsonObjectOf({ ...body, ...kept }) }
            })
          ),
          read
        ),
      remove: Effect.fnUntraced(function* (id, actor, expected) {
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
        // To revoke a key again changes nothing, and is what was asked for.
        yield* Effect.catchIf(
          revoke,
          (error) => error._tag === "RecordRefused" && error.code === "key_revoked",
          () => Effect.void
        )
      }),
      rotate: Effect.fnUntraced(function* (id, actor, expected) {
        const text = makeKey()
        const record = yield* edit(id, actor, expected, (before) =>
          Effect.as(unrevoked(before), { value: { ...before.value, ...textPart(text) }, action: "rotate" as const })
        )
        return { ...(yield* read(record)), key: text }
      })
    }
  })
