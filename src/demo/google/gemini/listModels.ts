// Answers the lists of models: `models` of the Gemini API, and `publishers/*/models` of Vertex AI.
// It must not depend on sockets or credentials.
// Source: the public description of both services.

import {
  type Answer,
  type Call,
  googleError,
  invalidArgument,
  jsonAnswer,
  type Operation,
  publisherModelMissing,
  refuse
} from "../shared/answers.ts"
import { exactRow, factIds, type FactRow } from "../shared/models.ts"
import { isServed } from "./validate.ts"

const defaultSize = 50
const largestSize = 1000

/** `publishers/anthropic` has the models of Claude, `publishers/meta` those whose id begins so. */
const publisherOf = (id: string, { family }: FactRow): string => {
  if (family === "claude") return "anthropic"
  return family === "open" ? (id.split("/")[0] ?? "") : "google"
}

const shortId = (id: string): string => id.slice(id.indexOf("/") + 1)

interface Listed {
  readonly id: string
  readonly row: FactRow
}

/** The models of a route's publisher that are served on the day. */
const listed = (call: Call): ReadonlyArray<Listed> => {
  const { target } = call.route
  const publisher = target.kind === "model" ? target.publisher : ""
  return factIds.flatMap((id) => {
    const row = exactRow(id)
    return row !== undefined && publisherOf(id, row) === publisher && isServed(call, id) ? [{ id, row }] : []
  })
}

const methodsOf = ({ operation, explicit_caching: caches }: FactRow): ReadonlyArray<string> => {
  if (operation.startsWith("generateContent"))
    return [
      "generateContent",
      "countTokens",
      ...(caches === true ? ["createCachedContent"] : []),
      "batchGenerateContent"
    ]
  if (operation.includes("Embed") || operation.includes("embed"))
    return ["embedContent", "countTextTokens", "countTokens"]
  return operation === "predict" ? ["predict"] : ["bidiGenerateContent"]
}

const googleModel = ({ id, row }: Listed) => ({
  name: `models/${id}`,
  version: "001",
  displayName: id,
  ...(row.context === undefined ? {} : { inputTokenLimit: row.context }),
  ...(row.max_output === undefined ? {} : { outputTokenLimit: row.max_output }),
  supportedGenerationMethods: methodsOf(row),
  ...(row.thinking?.control === "level" || row.thinking?.control === "budget" ? { thinking: true } : {})
})

const vertexModel = ({ id, row }: Listed) => ({
  name: `publishers/${publisherOf(id, row)}/models/${shortId(id)}`,
  versionId: "default",
  launchStage: row.stage === "preview" ? "PUBLIC_PREVIEW" : "GA"
})

const pageOf = (body: unknown): { readonly size: number; readonly from: number } | undefined => {
  const asked = typeof body === "object" && body !== null ? new Map(Object.entries(body)) : new Map<string, unknown>()
  const [size, from] = [Number(asked.get("pageSize") ?? 0), Number(asked.get("pageToken") ?? 0)]
  if (!Number.isSafeInteger(size) || size < 0 || !Number.isSafeInteger(from) || from < 0) return undefined
  return { size: Math.min(size === 0 ? defaultSize : size, largestSize), from }
}

const listAnswer = (call: Call): Answer => {
  const page = pageOf(call.body)
  if (page === undefined) return refuse(call.route, invalidArgument("Invalid page size or page token."))
  const served = listed(call)
  const end = page.from + page.size
  const shown = served.slice(page.from, end)
  const next = end < served.length ? { nextPageToken: String(end) } : {}
  return jsonAnswer(
    200,
    call.route.service === "google"
      ? { models: shown.map(googleModel), ...next }
      : { publisherModels: shown.map(vertexModel), ...next }
  )
}

const getAnswer = (call: Call): Answer => {
  const { route } = call
  const one = listed(call).find(({ id }) => id === route.target.id || shortId(id) === route.target.id)
  if (one !== undefined) return jsonAnswer(200, route.service === "google" ? googleModel(one) : vertexModel(one))
  return refuse(
    route,
    route.service === "google"
      ? googleError("NOT_FOUND", `Model is not found: models/${route.target.id} for api version ${route.version}`)
      : publisherModelMissing(route)
  )
}

export const listModels: Operation = { matches: ({ operation }) => operation === "listModels", answer: listAnswer }
export const getModel: Operation = { matches: ({ operation }) => operation === "getModel", answer: getAnswer }
