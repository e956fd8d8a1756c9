// Answers predict: Imagen on both services, embeddings on Vertex AI, self-deployed endpoints of dialect predict.
// It must not depend on sockets, credentials, or any model's instances and parameters.

import { googleOperation, serviceOf, validateShape } from "../gemini/validate.ts"
import { isRecord } from "../shapes/open.ts"
import { type Call, invalidArgument, type Predict, type PredictRequest } from "../shared/answers.ts"
import { applyUnaryFault } from "../shared/faults.ts"
import type { Route } from "../shared/routes.ts"
import { modelKind, type ModelKind } from "../shared/models.ts"
import { drawImages } from "./imagen.ts"
import { embedMedia, embedTexts } from "./embeddings.ts"
import { answerInstances } from "./selfDeployed.ts"

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
