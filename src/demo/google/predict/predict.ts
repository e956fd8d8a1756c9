// Answers predict: Imagen on both services, embeddings on Vertex AI, self-deployed endpoints of dialect predict.
// It must not depend on sockets, credentials, or any model's instances and parameters.

import { isGoogleTarget, serviceOf, unknownModel, validateShape } from "../gemini/validate.ts"
import { isRecord } from "../shapes/open.ts"
import {
  type Answer,
  type Call,
  errorAnswer,
  invalidArgument,
  jsonAnswer,
  type Operation,
  type Predict,
  type PredictRequest
} from "../shared/answers.ts"
import { applyFault, unaryWire } from "../shared/faults.ts"
import { modelKind, type ModelKind } from "../shared/models.ts"
import { drawImages } from "./imagen.ts"
import { embedMedia, embedTexts } from "./embeddings.ts"
import { answerInstances } from "./selfDeployed.ts"

const notHere: Predict = (_request, { route }) => ({
  error: invalidArgument(`${route.target.id} is not supported for predict. Please use embedContent.`)
})

const onGoogle: ReadonlyMap<ModelKind, Predict> = new Map([["imagen", drawImages]])
const onVertex: ReadonlyMap<ModelKind, Predict> = new Map([
  ["imagen", drawImages],
  ["text-embedding", embedTexts],
  ["multimodal-embedding", embedMedia],
  ["content-embedding", notHere]
])

/** A fault id acts as Imagen if the first instance has a prompt, else as a text embedding model. */
const predictorOf = (
  call: Call,
  { instances: [first] }: PredictRequest,
  served: ReadonlyMap<ModelKind, Predict>
): Predict => {
  if (call.route.target.kind === "endpoint") return answerInstances
  const kind = modelKind(call.route.target.id)
  return (
    (kind === undefined ? undefined : served.get(kind)) ??
    (isRecord(first) && "prompt" in first ? drawImages : embedTexts)
  )
}

const answer = (call: Call): Answer => {
  const { route } = call
  const service = serviceOf(route)
  const served = service.backend === "google" ? onGoogle : onVertex
  const missing = unknownModel(call, [...served.keys()])
  if (missing !== undefined) return errorAnswer(missing, false)
  const verdict = validateShape<PredictRequest>(call.body, service, "PredictRequest")
  if (!verdict.accepted) return errorAnswer(verdict.error, false)
  if (verdict.request.instances.length === 0) return errorAnswer(invalidArgument("Empty instances."), false)
  const made = predictorOf(call, verdict.request, served)(verdict.request, call)
  const good = "error" in made ? errorAnswer(made.error, false) : jsonAnswer(200, made.body)
  return applyFault(route.target.id, good, {
    callNumber: call.callNumber,
    streaming: false,
    sse: false,
    wire: unaryWire
  })
}

export const predict: Operation = {
  matches: (route) => isGoogleTarget(route) && route.operation === "predict",
  answer
}
