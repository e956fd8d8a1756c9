// The golden matrix: one chat request through every pair of model and provider, printed as one page.
// Must not depend on a translator: the dry run of the whole service answers.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject, parseBody } from "../../src/domain/text/json.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import type { EndpointFacts } from "../../src/domain/ProviderAccount.ts"
import { Gateway } from "../../src/Gateway.ts"
import { HttpApi } from "../../src/http/HttpApi.ts"
import { googleAccount, vertexAccount } from "./account.ts"

/** The columns, and the model that each one asks unless the page names another. */
export const pairs: Readonly<Record<string, string>> = {
  "chat-to-gemini on google": "@google/gemini-2.5-flash",
  "chat-to-gemini on vertex-ai": "@vertex-ai/gemini-2.5-flash",
  "chat-to-gemini on vertex-ai, Gemini 3": "@vertex-ai/gemini-3-flash-preview",
  "chat-to-claude, thinking by budget": "@vertex-ai/anthropic.claude-sonnet-4-5@20250929",
  "chat-to-claude, thinking by effort": "@vertex-ai/anthropic.claude-opus-4-8",
  "chat-to-openai, Llama": "@vertex-ai/meta.llama-4-maverick-17b-128e-instruct-maas",
  "chat-to-openai, self-deployed": "@vertex-ai/endpoints.2001",
  "chat-to-predict": "@vertex-ai/endpoints.3001"
}

const endpoints: Readonly<Record<string, EndpointFacts>> = {
  "2001": { dialect: "openai", host: undefined, model: "acme-chat" },
  "3001": { dialect: "predict", host: undefined, model: undefined }
}

/** The part of a page that is written by hand; the rest is generated. */
export interface Case {
  readonly about: string
  /** The chat request without its model. */
  readonly request: JsonObject
  /** Fields that replace those of the request: it is sent once for each entry. */
  readonly each?: ReadonlyArray<JsonObject>
  /** Other models for single pairs. */
  readonly models?: JsonObject
}

/** Integers beyond 2^53 keep their digits, as in a request body. */
const readJson = (text: string): JsonObject =>
  Result.getOrThrow(parseBody(new TextEncoder().encode(text), defaultLimits))

const isCase = (page: object): page is Case => {
  const { about, request, each, models }: { about?: unknown; request?: unknown; each?: unknown; models?: unknown } =
    page
  return (
    typeof about === "string" &&
    isJsonObject(request) &&
    (models === undefined || isJsonObject(models)) &&
    (each === undefined || (Array.isArray(each) && each.every(isJsonObject)))
  )
}

export const readCase = (text: string): Case => {
  const page = readJson(text)
  if (!isCase(page))
    throw new Error(
      "A page of the matrix needs `about` and `request`; `each` is a list of objects, `models` an object."
    )
  for (const pair of Object.keys(page.models ?? {}))
    if (!Object.hasOwn(pairs, pair)) throw new Error(`The matrix has no pair "${pair}".`)
  return page
}

const key = "mgk_matrix00000000000000000000000000000"

/** The whole service; nothing is sent, since every request is a dry run. */
export const openMatrix = () =>
  HttpApi.webHandler(
    Gateway.layerServices({
      server: { host: "127.0.0.1", port: 0 },
      accounts: [googleAccount, { ...vertexAccount, endpoints }],
      keys: [{ name: "matrix", key: Redacted.make(key) }],
      limits: defaultLimits
    })
  )

export type Matrix = ReturnType<typeof openMatrix>

/** Headers of every call; those that a request adds are on the page. */
const usualHeaders = new Set([
  "authorization",
  "x-goog-api-key",
  "content-type",
  "accept",
  "accept-encoding",
  "user-agent"
])

const resultOf = async (matrix: Matrix, body: JsonObject): Promise<JsonObject> => {
  const response = await matrix.handler(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": key, "x-gateway-dry-run": "true" },
      body: JSON.stringify(body)
    })
  )
  const answer = readJson(await response.text())
  if (response.status !== 200) return { status: response.status, ...answer }
  const { object: _object, provider: _provider, target_index: _index, method: _method, headers, url, ...rest } = answer
  const added = Object.fromEntries(
    Object.entries(isJsonObject(headers) ? headers : {}).filter(([name]) => !usualHeaders.has(name.toLowerCase()))
  )
  return { url, ...(Object.keys(added).length === 0 ? {} : { headers: added }), ...rest }
}

/** One request through one pair, by the name of the pair. */
export interface Sent {
  readonly pair: string
  readonly model: string
  readonly fields: JsonObject | undefined
  readonly result: JsonObject
}

export const sendCase = async (matrix: Matrix, { request, each, models = {} }: Case): Promise<ReadonlyArray<Sent>> => {
  const sent: Array<Sent> = []
  for (const [pair, usual] of Object.entries(pairs)) {
    const model = String(models[pair] ?? usual)
    for (const fields of each ?? [undefined])
      sent.push({ pair, model, fields, result: await resultOf(matrix, { model, ...request, ...fields }) })
  }
  return sent
}

/** Columns of a line; what fits stays on one. */
const width = 120

/** JSON for readers of a diff: a value that fits its line is not broken up. */
const print = (value: Json | undefined, indent: string, lead: number): string => {
  const flat = JSON.stringify(value)
  const isArray = Array.isArray(value)
  if (indent.length + lead + flat.length <= width || !(isArray || isJsonObject(value))) return flat
  const inner = `${indent}  `
  const lines = isArray
    ? value.map((item) => inner + print(item, inner, 1))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([name, item]) => {
          const start = `${JSON.stringify(name)}: `
          return inner + start + print(item, inner, start.length + 1)
        })
  return `${isArray ? "[" : "{"}\n${lines.join(",\n")}\n${indent}${isArray ? "]" : "}"}`
}

/** The page: the case, then each pair with what it sends or why it refuses. */
export const pageOf = ({ about, request, each, models }: Case, sent: ReadonlyArray<Sent>): string => {
  const columns = Object.keys(pairs).map((pair): readonly [string, JsonObject] => {
    const own = sent.filter((one) => one.pair === pair)
    const model = own[0]?.model
    const results = own.map(({ fields, result }): JsonObject =>
      fields === undefined ? result : { with: fields, ...result }
    )
    return [pair, each === undefined ? { model, ...results[0] } : { model, results }]
  })
  return `${print({ about, request, each, models, pairs: Object.fromEntries(columns) }, "", 0)}\n`
}
