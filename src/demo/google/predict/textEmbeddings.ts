// Answers predict for text embeddings on Vertex AI: instances of content, task type and title.
// Must not depend on HTTP.
// Source: recorded answers, publicly quoted refusals, Google's embedding reference.

import { taskTypes } from "../shapes/common.ts"
import { bool, closedRecord, integer, list, mismatchMessage, nullable, text, withoutNulls } from "../shapes/open.ts"
import type { Check } from "../shapes/open.ts"
import { invalidArgument } from "../shared/errors.ts"
import type { GoogleError } from "../shared/errors.ts"
import { embeddingFacts } from "../shared/models.ts"
import type { EmbeddingFacts } from "../shared/models.ts"
import { textTokens } from "../shared/usage.ts"
import { embed, shorten } from "../shared/vectors.ts"
import type { Predict } from "./prediction.ts"

interface Instance {
  readonly content: string
  readonly task_type?: string
  readonly title?: string
}

interface Parameters {
  readonly autoTruncate?: boolean
  readonly outputDimensionality?: number
}

const mostTokensOfCall = 20_000
const charactersPerToken = 4
const tasks = new Set(taskTypes.split(" "))

/** Instances use snake case, parameters camel case. */
const instances: Check = list(closedRecord({ "content!": text, task_type: nullable(text), title: nullable(text) }))
const parametersOf = ({ size }: EmbeddingFacts): Check =>
  closedRecord({ autoTruncate: nullable(bool), outputDimensionality: nullable(integer(1, size)) })

/** Characters other than white space; recorded answers bill these. */
const billable = (content: string): number => content.replace(/\s/g, "").length

const refusal = (
  asked: ReadonlyArray<Instance>,
  { autoTruncate }: Parameters,
  facts: EmbeddingFacts
): GoogleError | undefined => {
  if (asked.length > facts.mostInstances) {
    return invalidArgument(`${facts.mostInstances} instance(s) is allowed per prediction. Actual: ${asked.length}`)
  }
  if (asked.some(({ content }) => content === "")) return invalidArgument("The text content is empty.")
  const task = asked.map(({ task_type }) => task_type).find((name) => name !== undefined && !tasks.has(name))
  if (task !== undefined) return invalidArgument(`Invalid task_type: ${task}. Supported: ${[...tasks].join(", ")}.`)
  if (asked.some(({ task_type, title }) => title !== undefined && task_type !== "RETRIEVAL_DOCUMENT")) {
    return invalidArgument("`title` is only valid with task_type=RETRIEVAL_DOCUMENT.")
  }
  const tokens = asked.map(({ content }) => textTokens(content))
  const sum = tokens.reduce((left, right) => left + right, 0)
  const over = (count: number, most: number) =>
    invalidArgument(
      `Unable to submit request because the input token count is ${count} but the model supports up to ${most}. ` +
        "Reduce the input token count and try again."
    )
  if (sum > mostTokensOfCall) return over(sum, mostTokensOfCall)
  const long = tokens.find((count) => count > facts.mostTokens)
  return autoTruncate === false && long !== undefined ? over(long, facts.mostTokens) : undefined
}

const prediction = (instance: Instance, parameters: Parameters, facts: EmbeddingFacts) => {
  const tokens = textTokens(instance.content)
  const truncated = tokens > facts.mostTokens
  const content = truncated ? instance.content.slice(0, facts.mostTokens * charactersPerToken) : instance.content
  const marks = [instance.task_type, instance.title].filter((mark) => mark !== undefined)
  const values = shorten(embed(content, facts.size, marks), parameters.outputDimensionality)
  return { embeddings: { statistics: { truncated, token_count: Math.min(tokens, facts.mostTokens) }, values } }
}

export const embedTexts: Predict = (request, { route }) => {
  const facts = embeddingFacts(route.target.id)
  const mismatch =
    instances(request.instances, "instances") ?? parametersOf(facts)(request.parameters ?? {}, "parameters")
  if (mismatch !== undefined) return { error: invalidArgument(mismatchMessage(mismatch)) }
  const asked = withoutNulls(request.instances) as ReadonlyArray<Instance> // The shape is checked above.
  const parameters = withoutNulls(request.parameters ?? {}) as Parameters // The shape is checked above.
  const error = refusal(asked, parameters, facts)
  if (error !== undefined) return { error }
  return {
    body: {
      predictions: asked.map((instance) => prediction(instance, parameters, facts)),
      metadata: { billableCharacterCount: asked.reduce((sum, { content }) => sum + billable(content), 0) }
    }
  }
}
