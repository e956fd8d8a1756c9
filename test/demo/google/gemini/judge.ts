// Google's recorded requests, and the verdict of its published schemas on a body.
// Must not depend on a test.
import type { Entry, Service } from "../../../../src/demo/google/gemini/validate.ts"
import { recordings, schemaOracle } from "../../../support/shared.ts"

export interface Recorded {
  readonly name: string
  readonly service: Service
  readonly entry: Entry
  readonly model: string
  readonly body: unknown
  readonly status: number
}

const folders = [
  "gemini-api",
  "vertex-gemini",
  "gemini-count-tokens",
  "vertex-count-tokens",
  "vertex-predict",
  "gemini-embeddings"
]

const entries: Readonly<Record<string, Entry>> = {
  generateContent: "GenerateContentRequest",
  streamGenerateContent: "GenerateContentRequest",
  countTokens: "CountTokensRequest",
  predict: "PredictRequest",
  embedContent: "EmbedContentRequest",
  batchEmbedContents: "BatchEmbedContentsRequest"
}

/** Every recorded request with a body, of Google's own methods on both services. */
export const recordedRequests: ReadonlyArray<Recorded> = folders.flatMap((folder) =>
  recordings(folder).flatMap(({ id, request, response }): ReadonlyArray<Recorded> => {
    if (request.body === null || request.body === undefined) return []
    const path = new URL(request.url).pathname
    const entry = entries[path.split(":").at(-1) ?? ""]
    if (entry === undefined) throw new Error(`${id}: no entry for ${path}`)
    return [
      {
        name: id,
        service: { backend: folder.startsWith("gemini") ? "google" : "vertex", version: path.split("/")[1] ?? "" },
        entry,
        model: /models\/([^:]+)/.exec(path)?.[1] ?? "",
        body: request.body,
        status: response.status
      }
    ]
  })
)

/** The verdict of a schema validator over the published descriptions. */
export const schemaVerdict = ({ backend, version }: Service, entry: Entry, body: unknown): boolean => {
  const name = backend === "google" ? "google-generativelanguage-v1beta" : `google-aiplatform-${version}`
  const check = schemaOracle(`${name}.schema.json`, entry)
  if (check === undefined) throw new Error(`no schema ${name} ${entry}`)
  return check(body)
}
