// The objects, stores and models that the body of a call may name under a stored credential.
// It must not depend on where in a body they are named.
import { quoteValue } from "../domain/faults.ts"
import { BodyInvalid, ObjectNotAllowed } from "../domain/GatewayError.ts"
import { lists } from "../domain/GatewayKey.ts"
import { type Operation, operations } from "../domain/operations.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { isWithin, storageObject } from "../domain/text/cloudStorage.ts"
import { namedModels, type NamedObject, namedObjects, namingMembers } from "../translate/namedInBody.ts"
import { mayNameObjects } from "../translate/native/nativeBody.ts"
import type { Prepared } from "../upstream/Prepared.ts"

/** Every project a resource name leads through; `//service/projects/P` is one as well. */
const projectsOf = (name: string): ReadonlyArray<string> =>
  [...name.matchAll(/(?:^|\/)projects\/([^/]*)/g)].map(([, project = ""]) => project)

/** Vertex AI names its own resources by the number of their project, which no account states. */
const isNumber = (project: string): boolean => /^\d+$/.test(project)

/** The account's own project. */
const ownProject = ({ credentials, project_id: projectId }: ProviderAccount): string | undefined =>
  projectId ?? (credentials?._tag === "ServiceAccount" ? credentials.key.projectId : undefined)

const mayRead = (account: ProviderAccount, project: string): boolean =>
  project === ownProject(account) ||
  (account.projects === undefined ? isNumber(project) : lists(account.projects, project))

const refusal = (
  account: ProviderAccount,
  { member = "storage_uri", name, use }: NamedObject
): ObjectNotAllowed | undefined => {
  const { gcs, slug } = account
  const object = storageObject(name) ?? ""
  switch (use) {
    case "read":
      return gcs?.read === undefined || isWithin(gcs.read, object)
        ? undefined
        : new ObjectNotAllowed({
            code: "object_not_allowed",
            message: `${quoteValue(name)} lies outside of what requests may read with the stored credential of "${slug}" (gcs.read); send a credential of your own to read it.`
          })
    case "write":
      return isWithin(gcs?.write ?? [], object)
        ? undefined
        : new ObjectNotAllowed({
            code: "storage_not_allowed",
            message: `${member}: ${quoteValue(name)} lies outside of what requests may write with the stored credential of "${slug}" (gcs.write); send a credential of your own to write there.`
          })
    case "resource":
      return projectsOf(name).every((project) => mayRead(account, project))
        ? undefined
        : new ObjectNotAllowed({
            code: "object_not_allowed",
            message: `${quoteValue(name)} is of another project than that of "${slug}", whose stored credential reads its own; an operator lists others, also by their number, under projects.`
          })
  }
}

/** Bodies that pass as bytes are parsed only where they may name something; Anthropic's have no fixed place for names. */
const mayName = (bytes: Uint8Array, operation: Operation, withReads: boolean): boolean =>
  operations[operation].dialect === "google" ? mayNameObjects(bytes) : withReads

/** Why an attempt may not be made; undefined where it may, and always with a credential of the request. */
export const beyondReach = (
  account: ProviderAccount,
  prepared: Pick<Prepared<unknown, unknown>, "body" | "bytes" | "split" | "target">
): ObjectNotAllowed | undefined => {
  if (account.kind !== "vertex-ai" || account.origin === "caller" || account.credentials === undefined) return undefined
  const withReads = account.gcs?.read !== undefined
  if (prepared.bytes !== undefined && !mayName(prepared.bytes, prepared.target.operation, withReads)) return undefined
  for (const { body } of prepared.split === undefined ? [prepared] : [prepared, ...prepared.split.calls]) {
    for (const named of namedObjects(body, withReads)) {
      const refused = refusal(account, named)
      if (refused !== undefined) return refused
    }
  }
  return undefined
}

/** The id of a model, alone or with the prefixes of a resource. */
const bareId = (written: string): string => written.replace(/^.*\bmodels\//, "")

/**
 * Why a body may not be sent; undefined where it names no other model than the one that is called: limits, prices and budgets
 * count for that one. Only native dialects have such members.
 */
export const otherModel = ({
  body,
  bytes,
  target: { modelId, operation },
  translated
}: Pick<Prepared<unknown, unknown>, "body" | "bytes" | "target" | "translated">): BodyInvalid | undefined => {
  const { dialect } = operations[operation]
  if (dialect === "openai" || translated !== undefined) return undefined
  const named = namedModels(dialect, bytes === undefined ? body : namingMembers(dialect, bytes))
  const other = named.find(({ model }) => typeof model !== "string" || bareId(model) !== bareId(modelId))
  return other === undefined
    ? undefined
    : new BodyInvalid({
        code: "invalid_value",
        param: other.param,
        message: `${other.param} is another model than the one that is called, "${modelId}"; leave it out, and name other models in a config.`
      })
}
