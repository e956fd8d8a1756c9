// Provider accounts of the admin API: reads and changes them. A credential is shown as a fingerprint only.
// Must not know how an account is used.
import * as Effect from "effect/Effect"
import * as EffectRecord from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { type Provider, WrittenProvider } from "../api/AdminResources.ts"
import { isUnconfigured } from "../catalog/mergedRecords.ts"
import { type Fault, faultAt } from "../domain/faults.ts"
import { jsonObjectOf } from "../domain/text/json.ts"
import { Limits } from "../domain/Limits.ts"
import { accountFields, type Credentials, type ProviderAccount, ProviderEntry } from "../domain/ProviderAccount.ts"
import { impersonatedAccount } from "../domain/settings/credentialFile.ts"
import { entryFault, readAccount } from "../domain/settings/readAccount.ts"
import { secretFingerprint } from "../store/Encryption.ts"
import type { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { recordReader, type StoredRecord } from "../store/StoredRecord.ts"
import type { Records } from "../store/Records.ts"
import { brokenGuard, destinationFaults, movedSecretsGuard, movesCredential, reachAll } from "./guards.ts"
import { type Judge, type Managed, managed, type RunInTurn } from "./Managed.ts"
import { momentOf, resourceReader } from "./resourceReader.ts"

const credentialOf = (credentials: Credentials): NonNullable<Provider["credential"]> => {
  switch (credentials._tag) {
    case "ApiKey":
      return { type: "api_key", fingerprint: secretFingerprint(credentials.key) }
    case "AccessToken":
      return { type: "access_token", fingerprint: secretFingerprint(credentials.token) }
    case "ServiceAccount":
      return {
        type: "service_account",
        fingerprint: secretFingerprint(credentials.key.privateKey),
        client_email: credentials.key.clientEmail
      }
    case "AuthorizedUser":
      return { type: "authorized_user", fingerprint: secretFingerprint(credentials.user.refreshToken) }
    case "Federated":
      return { type: "external_account" }
    case "FederatedUser":
      return {
        type: "external_account_authorized_user",
        fingerprint: secretFingerprint(credentials.user.refreshToken)
      }
    case "Impersonated": {
      const { fingerprint } = credentialOf(credentials.source)
      const email = impersonatedAccount(credentials.impersonation)
      return {
        type: "impersonated",
        ...(fingerprint === undefined ? {} : { fingerprint }),
        ...(email === undefined ? {} : { client_email: email })
      }
    }
    case "ApplicationDefault":
      return { type: "application_default" }
  }
}

const credentialPart = ({ credentials }: ProviderAccount): Pick<Provider, "credential"> =>
  credentials === undefined ? {} : { credential: credentialOf(credentials) }

/** A record without the fields that are undefined. */
const definedFields = <A extends object>(record: A) =>
  // The cast states what the filter leaves.
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [Field in keyof A]: Exclude<A[Field], undefined>
  }

/** The account in the form of its configuration entry, without its credential. */
const shownDeclared = (account: ProviderAccount): Provider => ({
  object: "provider",
  slug: account.slug,
  provider: account.kind,
  ...definedFields(Struct.pick(account, accountFields)),
  ...(Object.keys(account.endpoints).length === 0
    ? {}
    : { endpoints: EffectRecord.map(account.endpoints, definedFields) }),
  ...(account.gcs === undefined ? {} : { gcs: definedFields(account.gcs) }),
  ...credentialPart(account),
  source: "file",
  managed: "file"
})

const entryReader = recordReader(ProviderEntry)

const shownStored = (record: StoredRecord): Result.Result<Provider, string> =>
  Result.map(entryReader(record), (entry) => {
    const { api_key: _key, credentials: _credentials, ...shown } = entry
    return {
      object: "provider",
      ...shown,
      ...credentialPart(readAccount(entry, entryFault).account),
      source: "store",
      version: record.version,
      created_at: momentOf(record.createdMillis),
      updated_at: momentOf(record.updatedMillis)
    }
  })

const bodyReader = resourceReader(WrittenProvider)

/** `null` removes the credential; a credential that is not named stays. */
const isRemoved = (name: "api_key" | "credentials", written: Readonly<Record<string, unknown>>): boolean =>
  written[name] === null

const judge: Judge = (written, before) =>
  Result.flatMap(bodyReader(before === undefined ? written : { slug: before.id, ...written }), (entry) => {
    const { api_key: key, credentials, ...value } = entry
    const stored = before === undefined ? undefined : Result.getOrUndefined(entryReader(before))
    const removed = isRemoved("api_key", written) || isRemoved("credentials", written)
    const given = key !== undefined || credentials !== undefined
    const unsent =
      given || removed || stored === undefined
        ? {}
        : {
            ...(stored.api_key === undefined ? {} : { api_key: stored.api_key }),
            ...(stored.credentials === undefined ? {} : { credentials: stored.credentials })
          }
    const whole = { ...entry, ...unsent }
    const faults: ReadonlyArray<Fault> = [
      ...(before === undefined || entry.slug === before.id
        ? []
        : [faultAt(["slug"], "is another than that of the URL; a slug cannot be changed")]),
      ...readAccount(whole, entryFault).faults,
      ...destinationFaults(whole),
      ...(stored !== undefined && Object.keys(unsent).length > 0 ? movesCredential(stored, entry) : [])
    ]
    if (faults.length > 0) return Result.fail(faults)
    const secret = given
      ? Redacted.make(
          jsonObjectOf({
            ...(key === undefined ? {} : { api_key: key }),
            ...(credentials === undefined ? {} : { credentials })
          })
        )
      : removed
        ? null
        : undefined
    return Result.succeed({
      id: entry.slug,
      content: { value: jsonObjectOf(value), ...(secret === undefined ? {} : { secret }) }
    })
  })

/** Open slugs, which take their credential from the request, are not listed as declared. */
export const providerRecords = (turn: RunInTurn): Effect.Effect<Managed<Provider>, never, Records | ConfigSnapshot> =>
  Effect.flatMap(Limits, (limits) => {
    const isBroken = brokenGuard("provider", limits, reachAll)
    return managed<Provider>(
      {
        kind: "provider",
        declared: ({ declared }) =>
          new Map(
            declared.accounts
              .filter((account) => !isUnconfigured(account))
              .map((account) => [account.slug, shownDeclared(account)])
          ),
        shown: shownStored,
        guard: (...change) => isBroken(...change) ?? movedSecretsGuard(...change)
      },
      judge,
      turn
    )
  })
