// One line on what an account can do, and what to set where it cannot.
// It must not know secrets: it names the kind of a credential, never its text.
import type { Credentials, ProviderAccount } from "../domain/ProviderAccount.ts"

/** The kind of a credential. */
export const credentialName = (credentials: Credentials): string => {
  switch (credentials._tag) {
    case "ApiKey":
      return "API key"
    case "AccessToken":
      return "access token"
    case "ServiceAccount":
      return `service account ${credentials.key.clientEmail}`
    case "ApplicationDefault":
      return "application default credentials"
  }
}

/** What to set where there is no credential. */
export const remedy = ({ kind, slug }: ProviderAccount): string => {
  // Variables of the environment are for the two built-in slugs.
  if (slug !== kind) return "no credential: give the account one, or let requests bring their own"
  return kind === "google"
    ? "no API key: set GEMINI_API_KEY, or let requests bring their own"
    : "no credential: set GOOGLE_APPLICATION_CREDENTIALS to a service-account key file, or let requests bring their own"
}

/** Without a project or region a Vertex AI account needs them from the request; an API key (express mode) needs neither. */
const place = (account: ProviderAccount): string => {
  if (account.kind === "google" || account.credentials?._tag === "ApiKey") return ""
  const project = account.projectId ?? "no project (GOOGLE_CLOUD_PROJECT)"
  const region = account.region ?? "no region (GOOGLE_CLOUD_LOCATION)"
  return account.credentials === undefined && account.projectId === undefined && account.region === undefined
    ? ""
    : `, ${project}, ${region}`
}

/** `@google  API key`. */
export const describeAccount = (account: ProviderAccount): string =>
  `@${account.slug}  ${account.credentials === undefined ? remedy(account) : credentialName(account.credentials)}${place(account)}`
