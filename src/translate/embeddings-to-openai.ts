// The pair of embeddings and OpenAI-compatible endpoints: passed whole, with what only the gateway understands taken out.
// It must not know URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Reason } from "../domain/ProviderError.ts"
import type { EmbeddingList, EmbeddingsRequest, KnownEmbeddingsParam } from "../wire/openai/Embeddings.ts"
import { UpstreamEmbeddings } from "../wire/openai/UpstreamEmbeddings.ts"
import { count } from "./shared/reply/counts.ts"
import { embeddingList, type Found, numbersOf, vectorOf } from "./shared/reply/embeddingList.ts"
import { failureFromOpenAi } from "./shared/reply/openAiFailure.ts"
import { ignored, mapped, silent } from "./shared/chat-request/paramRules.ts"
import { readEmbeddings, textsOnly } from "./shared/readEmbeddings.ts"
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

/** The client's own fields in their order, known or not. */
type Body = Readonly<Record<string, unknown>>

const request = (
  asked: EmbeddingsRequest,
  { target }: TranslateContext
): Result.Result<Translated<Body>, RequestFault> => {
  const wish = readEmbeddings(asked)
  if (Result.isFailure(wish)) return Result.fail(wish.failure)
  const unused: Array<string> = []
  const fields: Array<readonly [string, unknown]> = []
  for (const [name, value] of Object.entries(asked)) {
    const rule = rules.get(name)
    if (value === undefined || value === null || rule?.kind === "silent") continue
    if (rule?.kind === "ignored") unused.push(name)
    else fields.push([name, name === "model" ? target.modelId : value])
  }
  return Result.map(textsOnly(wish.success.inputs), () => ({
    body: Object.fromEntries(fields),
    headers: {},
    ignored: unused
  }))
}

/** Vectors belong to the inputs their index names, else to those at their own place. */
const response = (
  { data, model, usage }: UpstreamEmbeddings,
  context: TranslateContext,
  asked: EmbeddingsRequest
): Result.Result<EmbeddingList, Reason> => {
  const items = data ?? []
  const found: Array<Found | undefined> = items.map(() => undefined)
  for (const [position, { embedding, index }] of items.entries()) {
    const numbers = numbersOf(embedding)
    const at = typeof index === "number" ? index : position
    if (numbers !== undefined && at in found) found[at] = { embedding: vectorOf(numbers, asked) }
  }
  const served = typeof model === "string" && model !== "" ? model : context.target.modelId
  return embeddingList(found, count(usage?.prompt_tokens ?? undefined), context, asked, served)
}

export const embeddingsToOpenAi: Unary<EmbeddingsRequest, Body, UpstreamEmbeddings, EmbeddingList> = {
  name: "embeddings-to-openai",
  reply: UpstreamEmbeddings,
  request,
  response,
  failure: failureFromOpenAi
}
