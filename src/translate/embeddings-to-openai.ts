// Translator pair: embeddings to OpenAI-compatible endpoints; passes the request without the gateway's own fields.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Reason } from "../domain/ProviderError.ts"
import {
  type EmbeddingList,
  type EmbeddingsRequest,
  type KnownEmbeddingsParam,
  UpstreamEmbeddings
} from "../wire/openai/Embeddings.ts"
import { ignored, mapped, silent } from "./shared/chat-request/paramReader.ts"
import { readEmbeddings, requireTexts } from "./shared/readEmbeddings.ts"
import { embeddingList, type EmbeddingEntry, readNumbers, encodeVector } from "./shared/reply/embeddingList.ts"
import { failureFromOpenAi } from "./shared/reply/upstreamFailures.ts"
import { readCount } from "./shared/reply/usage.ts"
import type { ParamRule, Translated, TranslateContext, Unary } from "./Translator.ts"

const ours = ignored("no field of OpenAI's")

export const openAiEmbeddingsParams: Readonly<Record<KnownEmbeddingsParam, ParamRule>> = {
  model: mapped("model: the endpoint's id, or the name its account states"),
  input: mapped("input"),
  dimensions: mapped("dimensions"),
  encoding_format: silent("shapes our own answer; not every server knows it, so numbers are asked for"),
  user: mapped("user"),
  task_type: ours,
  title: ours,
  auto_truncate: ours,
  labels: ours
}

const rules: ReadonlyMap<string, ParamRule> = new Map(Object.entries(openAiEmbeddingsParams))

/** The client's fields in their order, known and unknown. */
type Body = Readonly<Record<string, unknown>>

const request = (
  asked: EmbeddingsRequest,
  { target }: TranslateContext
): Result.Result<Translated<Body>, RequestFault> =>
  Result.gen(function* () {
    const { inputs } = yield* readEmbeddings(asked)
    const texts = yield* requireTexts(inputs)
    const unused: Array<string> = []
    const fields: Array<readonly [string, unknown]> = []
    for (const [name, value] of Object.entries(asked)) {
      const rule = rules.get(name)
      if (value === undefined || value === null || rule?.kind === "silent") continue
      if (rule?.kind === "ignored") unused.push(name)
      else fields.push([name, name === "model" ? target.modelId : value])
    }
    // Texts in objects are words of Google's and of other services.
    const isPlain = [asked.input].flat().every((input) => typeof input === "string")
    return {
      body: Object.fromEntries(isPlain ? fields : [...fields, ["input", texts]]),
      headers: {},
      ignored: unused
    }
  })

/** Assigns vectors by their index, or by their position when the index is missing. */
const response = (
  { data, model, usage }: UpstreamEmbeddings,
  context: TranslateContext,
  asked: EmbeddingsRequest
): Result.Result<EmbeddingList, Reason> => {
  const items = data ?? []
  const entries: Array<EmbeddingEntry | undefined> = items.map(() => undefined)
  for (const [position, { embedding, index }] of items.entries()) {
    const numbers = readNumbers(embedding)
    const at = typeof index === "number" ? index : position
    if (numbers !== undefined && at in entries) entries[at] = { embedding: encodeVector(numbers, asked) }
  }
  const served = typeof model === "string" && model !== "" ? model : context.target.modelId
  return embeddingList(entries, readCount(usage?.prompt_tokens ?? undefined), context, asked, served)
}

export const embeddingsToOpenAi: Unary<EmbeddingsRequest, Body, UpstreamEmbeddings, EmbeddingList> = {
  name: "embeddings-to-openai",
  reply: UpstreamEmbeddings,
  request,
  response,
  failure: failureFromOpenAi
}
