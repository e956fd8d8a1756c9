// The accounts of a gateway that plays recordings back: the addresses that were called, with credentials that are never checked.
// Must not know files, or how recordings are played back.
import * as Redacted from "effect/Redacted"
import { type ProviderAccount, providerAccount } from "../domain/ProviderAccount.ts"

/** The address of an operator's own host; Google's own follow from the account. */
const baseOf = ({ hostname, origin }: URL): string | undefined =>
  hostname.endsWith(".googleapis.com") ? undefined : origin

const vertexPath = /\/projects\/([^/]+)\/locations\/([^/]+)\//
const googlePath = /^\/v1(?:beta|alpha)?\/models\//

/** One account for each provider that was recorded. Vertex AI has the project and region of its first recording. */
export const replayedAccounts = (addresses: ReadonlyArray<string>): ReadonlyArray<ProviderAccount> => {
  const urls = addresses.map((address) => new URL(address))
  const google = urls.find(({ pathname }) => googlePath.test(pathname))
  const vertex = urls.find(({ pathname }) => vertexPath.test(pathname))
  const [, projectId, region] = vertexPath.exec(vertex?.pathname ?? "") ?? []
  return [
    ...(google === undefined
      ? []
      : [
          providerAccount({
            slug: "google",
            kind: "google",
            credentials: { _tag: "ApiKey", key: Redacted.make("replayed") },
            baseUrl: baseOf(google)
          })
        ]),
    ...(vertex === undefined
      ? []
      : [
          providerAccount({
            slug: "vertex-ai",
            kind: "vertex-ai",
            credentials: { _tag: "AccessToken", token: Redacted.make("replayed") },
            projectId,
            region,
            baseUrl: baseOf(vertex)
          })
        ])
  ]
}
