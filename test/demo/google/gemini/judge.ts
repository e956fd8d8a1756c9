// Finds the shared folder with schemas and recordings next to the checkout. Without it, tests that need it are skipped with a warning.
// Must not know a test.

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import type { Entry, Service } from "../../../../src/demo/google/gemini/validate.ts"

const shared = process.env["MODEL_GATEWAY_SHARED"] ?? "../shared"

/** The shared folder, or `undefined` after a warning. */
export const sharedFolder = (): string | undefined => {
  if (existsSync(join(shared, "specs")) && existsSync(join(shared, "recordings"))) return shared
  // oxlint-disable-next-line no-console -- a silent skip would pass for a verdict
  console.warn(
    `left out: the comparison with Google's schemas and recordings, because ${shared} is not there (set MODEL_GATEWAY_SHARED)`
  )
  return undefined
}

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"))

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
export const recordedRequests = (folder: string): ReadonlyArray<Recorded> =>
  folders.flatMap((name) =>
    readdirSync(join(folder, "recordings", name)).flatMap((file): ReadonlyArray<Recorded> => {
      const { request, response } = readJson(join(folder, "recordings", name, file))
      if (request.body === null || request.body === undefined) return []
      const path = new URL(request.url).pathname
      const entry = entries[path.split(":").at(-1) ?? ""]
      if (entry === undefined) throw new Error(`${file}: no entry for ${path}`)
      return [
        {
          name: `${name}/${file}`,
          service: { backend: name.startsWith("gemini") ? "google" : "vertex", version: path.split("/")[1] ?? "" },
          entry,
          model: /models\/([^:]+)/.exec(path)?.[1] ?? "",
          body: request.body,
          status: response.status
        }
      ]
    })
  )

/** The verdict of a schema validator over the published descriptions. */
export const schemaJudge = (folder: string): ((service: Service, entry: Entry, body: unknown) => boolean) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const names = ["google-generativelanguage-v1beta", "google-aiplatform-v1", "google-aiplatform-v1beta1"]
  for (const name of names) ajv.addSchema(readJson(join(folder, "specs", `${name}.schema.json`)), name)
  return (service, entry, body) => {
    const name =
      service.backend === "google" ? "google-generativelanguage-v1beta" : `google-aiplatform-${service.version}`
    const check = ajv.getSchema(`${name}#/$defs/${entry}`)
    if (check === undefined) throw new Error(`no schema ${name} ${entry}`)
    return check(body) === true
  }
}
