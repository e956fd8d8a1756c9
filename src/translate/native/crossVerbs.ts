// Verbs that the other Google product has under another name: embeddings, and counts of tokens.
// It must not know URLs or how calls run. Rules: N504, N505.
import * as Result from "effect/Result"
import { readEach } from "../../domain/faults.ts"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import type { NativeVerb } from "../../domain/native/nativePath.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { invalid } from "../shared/chat-request/paramReader.ts"
import { cutInputs, embeddingModel } from "../shared/readEmbeddings.ts"
import { type Crossed, crossRequest, type CrossTo } from "./crossing.ts"
import { camelMembers } from "./memberNames.ts"

/** One call of the upstream. */
export interface CrossedCall extends Crossed {
  readonly verb: NativeVerb
}

export interface CrossedCalls {
  /** At least one, in the order of the inputs. */
  readonly calls: ReadonlyArray<CrossedCall>
  /** The answer in the client's words, made of all replies; undefined: the only reply passes as it is. */
  readonly answer: ((replies: ReadonlyArray<JsonObject>) => JsonObject) | undefined
}

type Read<A> = Result.Result<A, RequestFault>

const none: ReadonlyArray<string> = []
const call = (verb: NativeVerb, body: JsonObject): CrossedCall => ({ verb, body, headers: {}, ignored: none })
const only = (crossed: Read<CrossedCall>): Read<CrossedCalls> =>
  Result.map(crossed, (one) => ({ calls: [one], answer: undefined }))

const list = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []
const object = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
const present = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** The model of a crossing call: its id, and the record of facts about it. */
export interface CrossModel {
  readonly id: string
  readonly record: ModelRecord
}

/** Fields of one input, in the words of the Gemini API. */
const settings = ({ outputDimensionality, taskType, title }: JsonObject): JsonObject =>
  present({ outputDimensionality, taskType, title })

/** The text of a content; undefined where it has any part that is no text. */
const textOf = (content: Json | undefined): string | undefined => {
  const parts = list(object(content)["parts"])
  const texts = parts.map((part) => part["text"]).filter((text) => typeof text === "string")
  return parts.length > 0 && texts.length === parts.length ? texts.join("\n") : undefined
}

/** One input of the Gemini API as a call of Vertex AI. */
const toVertex = (request: JsonObject, model: CrossModel, path: string): Read<CrossedCall> => {
  const { content } = request
  const { outputDimensionality, taskType, title } = settings({ ...request, ...object(request["embedContentConfig"]) })
  if (embeddingModel({ kind: "vertex-ai", family: "gemini", record: model.record })?.operation !== "predict") {
    const config = present({ outputDimensionality, taskType, title })
    return Result.succeed(
      call(
        "embedContent",
        present({ content, embedContentConfig: Object.keys(config).length === 0 ? undefined : config })
      )
    )
  }
  const text = textOf(content)
  if (text === undefined)
    return invalid(path, "invalid_value", `${path} is not text, and ${model.id} on Vertex AI embeds text only.`)
  return Result.succeed(
    call("predict", {
      instances: [present({ content: text, task_type: taskType, title })],
      ...(outputDimensionality === undefined ? {} : { parameters: { outputDimensionality } })
    })
  )
}

/** The vectors of a reply of either verb. */
const vectorsOf = (reply: JsonObject): ReadonlyArray<Json> =>
  reply["predictions"] === undefined
    ? [object(reply["embedding"])["values"] ?? []]
    : list(reply["predictions"]).map(({ embeddings }) => object(embeddings)["values"] ?? [])

/** Predictions of one call, where all settings but those of each instance agree. */
const joinable = (one: CrossedCall, other: CrossedCall): boolean =>
  one.verb === "predict" &&
  other.verb === "predict" &&
  JSON.stringify(one.body["parameters"]) === JSON.stringify(other.body["parameters"])

const instancesOf = ({ body }: CrossedCall): ReadonlyArray<JsonObject> => list(body["instances"])

/** Calls of one text each in as few calls as the model takes. */
const joined = (calls: ReadonlyArray<CrossedCall>, model: CrossModel): ReadonlyArray<CrossedCall> => {
  const bounds = embeddingModel({ kind: "vertex-ai", family: "gemini", record: model.record })
  const [first] = calls
  if (bounds === undefined || first === undefined || !calls.every((one) => joinable(first, one))) return calls
  const texts = calls.flatMap(instancesOf)
  return cutInputs(texts, bounds, ({ content }) => String(content)).map((instances) => ({
    ...first,
    body: { ...first.body, instances }
  }))
}

const batchToVertex = (body: JsonObject, model: CrossModel): Read<CrossedCalls> =>
  Result.map(
    readEach(list(body["requests"]), (request, index) => toVertex(request, model, `requests[${index}].content`)),
    (calls) => ({
      calls: joined(calls, model),
      answer: (replies) => ({ embeddings: replies.flatMap(vectorsOf).map((values) => ({ values })) })
    })
  )

const embedToVertex = (body: JsonObject, model: CrossModel): Read<CrossedCalls> =>
  Result.map(toVertex(body, model, "content"), (one) => ({
    calls: [one],
    answer:
      one.verb === "predict" ? ([reply]) => ({ embedding: { values: vectorsOf(reply ?? {})[0] ?? [] } }) : undefined
  }))

const embedToGoogle = (body: JsonObject): CrossedCalls => {
  const { embedContentConfig, ...rest } = body
  return { calls: [call("embedContent", { ...rest, ...settings(object(embedContentConfig)) })], answer: undefined }
}

/** Texts of predict as one batch of the Gemini API. */
const predictToGoogle = (body: JsonObject, model: CrossModel): Read<CrossedCalls> => {
  const { outputDimensionality } = object(body["parameters"])
  const requests: Array<JsonObject> = []
  for (const [index, instance] of list(body["instances"]).entries()) {
    const { content, taskType, task_type: alsoType, title } = instance
    const path = `instances[${index}].content`
    if (typeof content !== "string")
      return invalid(path, "invalid_value", `${path} is not text, and ${model.id} on the Gemini API embeds text only.`)
    requests.push({
      model: `models/${model.id}`,
      content: { parts: [{ text: content }] },
      ...present({ taskType: taskType ?? alsoType, title, outputDimensionality })
    })
  }
  return Result.succeed({
    calls: [call("batchEmbedContents", { requests })],
    answer: ([reply]) => ({
      predictions: list(reply?.["embeddings"]).map(({ values }) => ({
        embeddings: { values: values ?? [], ...statistics(reply, requests.length) }
      }))
    })
  })
}

/** The Gemini API counts a whole batch, so only the count of a single text is known. */
const statistics = (reply: JsonObject | undefined, inputs: number): JsonObject => {
  const counted = object(reply?.["usageMetadata"])["promptTokenCount"]
  return inputs === 1 && typeof counted === "number" ? { statistics: { token_count: counted } } : {}
}

/** Counts of Vertex AI are of the contents themselves; the Gemini API counts system and tools in its wrapper only (T1703). */
const countTo = (body: JsonObject, model: CrossModel, to: CrossTo): Read<CrossedCalls> => {
  const inner = camelMembers(body)["generateContentRequest"]
  const counted = isJsonObject(inner) ? inner : body
  return only(
    Result.map(crossRequest(counted, to), ({ body: crossed, headers, ignored }) => {
      if (to.kind === "google")
        return {
          ...call("countTokens", { generateContentRequest: { model: `models/${model.id}`, ...crossed } }),
          headers,
          ignored
        }
      const { contents, generationConfig, systemInstruction, tools } = crossed
      return {
        ...call("countTokens", present({ contents, generationConfig, systemInstruction, tools })),
        headers: {},
        ignored
      }
    })
  )
}

const isEmbedding = ({ record }: CrossModel): boolean => record.family === "embedding"

/** A body for the other product: its calls, and how their replies become the client's answer. */
export const crossCall = (verb: NativeVerb, body: JsonObject, model: CrossModel, to: CrossTo): Read<CrossedCalls> => {
  switch (verb) {
    case "generateContent":
    case "streamGenerateContent":
      return only(Result.map(crossRequest(body, to), (crossed) => ({ ...crossed, verb })))
    case "countTokens":
      return countTo(body, model, to)
    case "batchEmbedContents":
      return batchToVertex(camelMembers(body), model)
    case "embedContent":
      return to.kind === "google"
        ? Result.succeed(embedToGoogle(camelMembers(body)))
        : embedToVertex(camelMembers(body), model)
    case "predict":
      return to.kind === "google" && isEmbedding(model)
        ? predictToGoogle(body, model)
        : Result.succeed({ calls: [call("predict", body)], answer: undefined })
    case "computeTokens":
    case "rawPredict":
    case "streamRawPredict":
    case "countMessages":
      return invalid("model", "unsupported_operation", `${verb} is offered by Vertex AI only.`)
  }
}
