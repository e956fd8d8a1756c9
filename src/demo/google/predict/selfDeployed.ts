// Answers predict for self-deployed endpoints: generated text in the forms of known serving containers, or vectors.
// It must not depend on HTTP.
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
import type { SimulatedEndpoint } from "../shared/routes.ts"
import { type Call, invalidArgument, type Predict, jsonAnswer } from "../shared/answers.ts"
import type { GenerateRequest } from "../shared/generateRequest.ts"
import { embed } from "../shared/vectors.ts"

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
export const answerInstances: Predict = (request, call) => {
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
