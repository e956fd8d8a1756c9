// Translation without a gateway: every translator by name, the context of a request, the readers of answers.
// It must not depend on providers or routes.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { BuiltInKind } from "../domain/ProviderAccount.ts"
import { type BodyInvalid, UnsupportedOperation } from "../domain/GatewayError.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import { builtInModels, recordOn } from "../domain/models/modelTable.ts"
import { parseJsonText } from "../domain/text/json.ts"
import { dayOf } from "../domain/time.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { modelFacts } from "./shared/gemini.ts"
import { eventFold, type StreamReader, streamReader } from "./StreamReader.ts"
import type { TranslateContext, Translator, Unary } from "./Translator.ts"
import { chatToClaude, countToClaude } from "./chat-to-claude/ChatToClaude.ts"
import { chatToGemini, countToGemini } from "./chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "./chat-to-openai/ChatToOpenAi.ts"
import { chatToPredict } from "./chat-to-predict/ChatToPredict.ts"
import { embeddingsToBatch, embeddingsToEmbedContent } from "./embeddings-to-gemini.ts"
import { embeddingsToOpenAi } from "./embeddings-to-openai.ts"
import { embeddingsToPredict } from "./embeddings-to-predict.ts"
import { imagesToGemini } from "./images-to-gemini.ts"
import { imagesToImagen } from "./images-to-imagen.ts"

/** What a translation depends on; all but provider and model have defaults. */
export interface TranslateOptions {
  readonly provider: BuiltInKind
  /** As a client writes it, without slug: `gemini-3.8-flash`, `anthropic.claude-sonnet-5-5`. */
  readonly model: string
  /** The dialect of the upstream; by default that of the model. */
  readonly family?: TranslateContext["target"]["family"]
  /** The id of the answer; `chatcmpl-local` by default. */
  readonly id?: string
  /** The time of the answer, and the day whose facts about the model count; 0 by default. */
  readonly createdSeconds?: number
  /** False adds the gateway's own fields to answers; true by default. */
  readonly strict?: boolean
  readonly betas?: ReadonlyArray<string>
  readonly callId?: TranslateContext["callId"]
  /** The stored thought signature of a call; by default there are none. */
  readonly signature?: TranslateContext["signature"]
  /** Fetched media by address; by default there are none. */
  readonly media?: TranslateContext["media"]
}

/** Bytes that resolved references may add to a schema. */
const schemaCopyBytes = 1024 * 1024
/** Bytes of one event of a stream. */
const eventBytes = 24 * 1024 * 1024

/** The context of one request and its answer; fails where the model is not a valid id, or is an endpoint without a family. */
export const translateContext = ({
  betas = [],
  callId = (n) => `call_${n}`,
  createdSeconds = 0,
  family,
  id = "chatcmpl-local",
  media = () => undefined,
  model,
  provider,
  signature = () => undefined,
  strict = true
}: TranslateOptions): Result.Result<TranslateContext, BodyInvalid | UnsupportedOperation> =>
  Result.flatMap(parseFamily(model), ({ family: named, modelId }) => {
    const dialect = family ?? (named === "endpoint" ? undefined : named)
    if (dialect === undefined)
      return Result.fail(new UnsupportedOperation({ message: "An endpoint needs its dialect: set `family`." }))
    const record = recordOn(builtInModels, modelId, provider, dayOf(createdSeconds * 1000))
    return Result.succeed({
      id,
      createdSeconds,
      model,
      target: {
        kind: provider,
        family: dialect,
        modelId,
        record,
        facts: modelFacts(record, { tuned: named === "endpoint" }),
        issuer: `${dialect}/${provider}`
      },
      strict,
      betas,
      schemaCopyBytes,
      callId,
      signature,
      media
    })
  })

/** The answer of a 200 whose body is this text; a text that is none of the upstream is a failure. */
export const readAnswer = <Req, Reply, Out>(
  translator: Pick<Unary<Req, unknown, Reply, Out>, "reply" | "response">,
  text: string,
  context: TranslateContext,
  request: Req
): Result.Result<Out, Reason> =>
  Result.flatMap(
    Result.mapError(
      Result.flatMap(parseJsonText(text), (json) =>
        Result.mapError(Schema.decodeUnknownResult(translator.reply)(json), () => "another shape")
      ),
      (): Reason => ({ _tag: "BadReply", kind: "unreadable", message: "The answer has a form that is not known." })
    ),
    (reply) => translator.response(reply, context, request)
  )

/** Reads the bytes of a stream of server-sent events into chunks. A failure is the last output. */
export const chunkReader = <Req, Event, Out, Chunk, State>(
  translator: Pick<Translator<Req, unknown, unknown, Event, Out, Chunk, State>, "stream">,
  context: TranslateContext,
  request: Req
): StreamReader<Chunk> => streamReader(eventFold(translator.stream(context, request), { eventBytes }))

/** Each translator has the type of its pair, so that declarations name it and do not spell it out. */
interface Translators {
  readonly "chat-to-claude": typeof chatToClaude
  readonly "chat-to-gemini": typeof chatToGemini
  readonly "chat-to-openai": typeof chatToOpenAi
  readonly "chat-to-predict": typeof chatToPredict
  readonly "count-to-claude": typeof countToClaude
  readonly "count-to-gemini": typeof countToGemini
  readonly "embeddings-to-gemini": typeof embeddingsToEmbedContent
  readonly "embeddings-to-gemini-batch": typeof embeddingsToBatch
  readonly "embeddings-to-openai": typeof embeddingsToOpenAi
  readonly "embeddings-to-predict": typeof embeddingsToPredict
  readonly "images-to-gemini": typeof imagesToGemini
  readonly "images-to-imagen": typeof imagesToImagen
}

export const translators: Translators = {
  "chat-to-claude": chatToClaude,
  "chat-to-gemini": chatToGemini,
  "chat-to-openai": chatToOpenAi,
  "chat-to-predict": chatToPredict,
  "count-to-claude": countToClaude,
  "count-to-gemini": countToGemini,
  "embeddings-to-gemini": embeddingsToEmbedContent,
  "embeddings-to-gemini-batch": embeddingsToBatch,
  "embeddings-to-openai": embeddingsToOpenAi,
  "embeddings-to-predict": embeddingsToPredict,
  "images-to-gemini": imagesToGemini,
  "images-to-imagen": imagesToImagen
}
