// Calls of the admin API for one request: its kept content, and dry runs of bodies.
// Must not know pages.
import type { AdminRequestContent } from "../../../api/AdminResources.ts"
import type { DryRun } from "../../../api/answers.ts"
import { call, get } from "../../AdminClient.ts"

export type Content = typeof AdminRequestContent.Type
export type DryRunAnswer = typeof DryRun.Type

export const content = (id: string): Promise<Content> => get(`/requests/${encodeURIComponent(id)}/content`)

/** The routes whose bodies a dry run reads. */
export const dryRunRoutes = [
  "/v1/chat/completions",
  "/v1/messages",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/images/generations"
] as const

export interface DryRunChoice {
  readonly route: string
  /** Ids; empty for the key of the session, and for the config of the key. */
  readonly key: string
  readonly config: string
}

/** What the upstream would get of a body. */
export const dryRun = async ({ config, key, route }: DryRunChoice, body: unknown): Promise<DryRunAnswer> => {
  const query = new URLSearchParams({
    route,
    ...(key === "" ? {} : { key }),
    ...(config === "" ? {} : { config })
  })
  return (await call("POST", `/dry-runs?${query}`, body)).json()
}
