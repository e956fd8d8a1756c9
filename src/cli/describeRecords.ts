// One line on an account or a prompt, for people; of an account also what to set where its credential is missing.
// Must not read a credential's text or the content of a prompt.
import type { Credentials, ProviderAccount } from "../domain/ProviderAccount.ts"
import { impersonatedAccount } from "../domain/settings/credentialFile.ts"
import { defaultLabel, type Prompt } from "../domain/Prompt.ts"

/** The kind of a credential, for people. */
export const credentialName = (credentials: Credentials): string => {
  switch (credentials._tag) {
    case "ApiKey":
      return "API key"
    case "AccessToken":
      return "access token"
    case "ServiceAccount":
      return `service account ${credentials.key.clientEmail}`
    case "AuthorizedUser":
      return "login of a user"
    case "Federated":
      return "identity federation"
    case "FederatedUser":
      return "login of a user by identity federation"
    case "Impersonated":
      return `service account ${impersonatedAccount(credentials.impersonation) ?? ""}, by ${credentialName(credentials.source)}`
    case "ApplicationDefault":
      return "application default credentials"
  }
}

/** The setting that gives the account a credential. */
export const describeMissingCredential = ({ kind, slug }: ProviderAccount): string => {
  // Environment variables apply to the two built-in slugs only.
  if (slug !== kind) return "no credential: give the account one, or let requests bring their own"
  return kind === "google"
    ? "no API key: set GEMINI_API_KEY, or let requests bring their own"
    : "no credential: set GOOGLE_APPLICATION_CREDENTIALS to a service-account key file, or let requests bring their own"
}

/** Project and region of a Vertex AI account. An API key (express mode) needs neither. */
const describePlace = (account: ProviderAccount): string => {
  if (account.kind === "google" || account.credentials?._tag === "ApiKey") return ""
  const project = account.project_id ?? "no project (GOOGLE_CLOUD_PROJECT)"
  const region = account.region ?? "no region (GOOGLE_CLOUD_LOCATION)"
  return account.credentials === undefined && account.project_id === undefined && account.region === undefined
    ? ""
    : `, ${project}, ${region}`
}

/** Such as `@google  API key`. */
export const describeAccount = (account: ProviderAccount): string =>
  `@${account.slug}  ${account.credentials === undefined ? describeMissingCredential(account) : credentialName(account.credentials)}${describePlace(account)}`

// One line on a prompt or partial, for people.

/** Such as `prompt haiku (A haiku): versions 1, 2; production is 1`. */
export const describePrompt = ({ id, labels, name, versions }: Prompt): string => {
  const isPartial = [...versions.values()].every(({ text }) => text !== undefined)
  const named = [...labels].map(([label, version]) => `${label} is ${version}`)
  const served = labels.has(defaultLabel) || versions.size === 1 ? [] : ["the newest is served"]
  return [
    `${isPartial ? "partial" : "prompt"} ${id}${name === undefined ? "" : ` (${name})`}: version${versions.size === 1 ? "" : "s"} ${[...versions.keys()].join(", ")}`,
    ...named,
    ...served
  ].join("; ")
}
