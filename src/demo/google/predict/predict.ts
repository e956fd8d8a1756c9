// Answers predict: Imagen on both services, embeddings on Vertex AI, and self-deployed endpoints in the forms of known containers.
// It must not depend on sockets, credentials, or the instances and parameters of Google's models.
// Source: publicly quoted answers of Model Garden containers.
import { cutAtLimits } from "../gemini/replies.ts"
import {
  type Check,
  either,
  integer,
  isRecord,
  list,
  mismatchMessage,
  nullable,
  number,
  record,
  text,
  withoutNulls
} from "../shapes/open.ts"
import { answerText } from "../shared/simulatedModel.ts"
import type { Route, SimulatedEndpoint } from "../shared/routes.ts"
import { type Call, invalidArgument, jsonAnswer, type Predict, type PredictRequest } from "../shared/answers.ts"
import type { GenerateRequest } from "../shared/generateRequest.ts"
import { embed } from "../shared/vectors.ts"
import { googleOperation, serviceOf, validateShape } from "../gemini/validate.ts"
import { applyUnaryFault } from "../shared/faults.ts"
import { modelKind, type ModelKind } from "../shared/models.ts"
import { drawImages } from "./imagen.ts"
import { embedMedia, embedTexts } from "./embeddings.ts"

interface Sampling {
  readonly max_tokens?: number
  readonly stop?: string | ReadonlyArray<string>
}

const sampling: Readonly<Record<string, Check>> = {
  max_tokens: nullable(integer(1, 1_000_000)),
  temperature: nullable(number(0, 2)),
  top_p: nullable(number(0, 1)),
  top_k: nullable(integer(-1, 1_000_000)),
  stop: nullable(either(text, list(text))),
  seed: nullable(integer())
}

const instances: Check = list(record({ "prompt!": text, ...sampling }))
const parameters: Check = record(sampling)

/** The part of the prompt to answer: the last `user:` turn of a transcript, else the whole prompt. */
const asked = (prompt: string): string => {
  const turns = prompt.split(/^(?=(?:system|user|assistant|tool): ?)/m)
  const last = turns.findLast((turn) => turn.startsWith("user:"))
  return (last === undefined ? prompt : last.slice("user:".length)).trim()
}

const completion = (prompt: string, { max_tokens: most, stop }: Sampling): string => {
  const stopSequences = typeof stop === "string" ? [stop] : (stop ?? [])
  const request: GenerateRequest = {
    contents: [{ role: "user", parts: [{ text: asked(prompt) }] }],
    generationConfig: { stopSequences, ...(most === undefined ? {} : { maxOutputTokens: most }) }
  }
  return cutAtLimits(answerText(request, "language"), request).text
}

const predicted = (endpoint: SimulatedEndpoint | undefined, prompt: string, words: string): unknown => {
  const form = endpoint?.predictForm
  if (form === undefined) return `Prompt:\n${prompt}\nOutput:\n${words}`
  return form === "text" ? words : { [form]: words }
}

/** The members of every answer that name the deployed model. */
const deployed = ({ route }: Call) => ({
  deployedModelId: "1234567890123456789",
  model: `projects/${route.project}/locations/${route.location}/models/${route.target.id}`,
  modelDisplayName: route.target.id,
  modelVersionId: "1"
})

const texts: Check = list(record({ "content!": text }))
const vectorSize = 768

/** Generates text for prompts; returns bare vectors for instances with `content`, the form of text embeddings. */
const answerInstances: Predict = (request, call) => {
  const [first] = request.instances
  return isRecord(first) && "content" in first && !("prompt" in first)
    ? embedContents(request, call)
    : answerPrompts(request, call)
}

const embedContents: Predict = (request, call) => {
  const mismatch = texts(request.instances, "instances")
  if (mismatch !== undefined) return invalidArgument(mismatchMessage(mismatch))
  const asked = request.instances as ReadonlyArray<{ readonly content: string }> // The shape is checked above.
  return jsonAnswer(200, { predictions: asked.map(({ content }) => embed(content, vectorSize)), ...deployed(call) })
}

const answerPrompts: Predict = (request, call) => {
  const mismatch = instances(request.instances, "instances") ?? parameters(request.parameters ?? {}, "parameters")
  if (mismatch !== undefined) return invalidArgument(mismatchMessage(mismatch))
  const shared = withoutNulls(request.parameters ?? {}) as Sampling // The shape is checked above.
  const prompts = withoutNulls(request.instances) as ReadonlyArray<Sampling & { readonly prompt: string }>
  return jsonAnswer(200, {
    predictions: prompts.map((instance) =>
      predicted(call.endpoint, instance.prompt, completion(instance.prompt, { ...shared, ...instance }))
    ),
    ...deployed(call)
  })
}

const notHere: Predict = (_request, { route }) =>
  invalidArgument(`${route.target.id} is not supported for predict. Please use embedContent.`)

const onGoogle: ReadonlyMap<ModelKind, Predict> = new Map([["imagen", drawImages]])
const onVertex: ReadonlyMap<ModelKind, Predict> = new Map([
  ["imagen", drawImages],
  ["text-embedding", embedTexts],
  ["multimodal-embedding", embedMedia],
  ["content-embedding", notHere]
])

const servedBy = (route: Route): ReadonlyMap<ModelKind, Predict> => (route.service === "google" ? onGoogle : onVertex)

/** A fault id acts as Imagen if the first instance has a prompt, else as a text embedding model. */
const predictorOf = ({ route }: Call, { instances: [first] }: PredictRequest): Predict => {
  if (route.target.kind === "endpoint") return answerInstances
  const kind = modelKind(route.target.id)
  return (
    (kind === undefined ? undefined : servedBy(route).get(kind)) ??
    (isRecord(first) && "prompt" in first ? drawImages : embedTexts)
  )
}

export const predict = googleOperation<PredictRequest>({
  matches: ({ operation }) => operation === "predict",
  kinds: (route) => [...servedBy(route).keys()],
  validate: ({ body, route }) => validateShape(body, serviceOf(route), "PredictRequest"),
  answer: (request, call) =>
    request.instances.length === 0 ? invalidArgument("Empty instances.") : predictorOf(call, request)(request, call),
  withFault: applyUnaryFault
})
