// Answers predict for embeddings on Vertex AI: of texts with task type and title, and of text, image and video together.
// It must not depend on HTTP.
// Source: recorded answers, publicly quoted refusals, Google's embedding references.
import { taskTypes } from "../shapes/common.ts"
import {
  bool,
  type Check,
  closedRecord,
  integer,
  list,
  type Mismatch,
  mismatchMessage,
  nullable,
  text,
  withoutNulls
} from "../shapes/open.ts"
import { type GoogleError, invalidArgument, type Predict, jsonAnswer } from "../shared/answers.ts"
import { embeddingFacts, type EmbeddingFacts } from "../shared/models.ts"
import { textTokens } from "../shared/generateRequest.ts"
import { embed, shorten } from "../shared/vectors.ts"

interface TextInstance {
  readonly content: string
  readonly task_type?: string
  readonly title?: string
}

interface TextParameters {
  readonly autoTruncate?: boolean
  readonly outputDimensionality?: number
}

const mostTokensOfCall = 20_000
const charactersPerToken = 4
const tasks = new Set(taskTypes.split(" "))

/** Instances use snake case, parameters camel case. */
const textInstances: Check = list(closedRecord({ "content!": text, task_type: nullable(text), title: nullable(text) }))
const textParameters = ({ size }: EmbeddingFacts): Check =>
  closedRecord({ autoTruncate: nullable(bool), outputDimensionality: nullable(integer(1, size)) })

/** Characters other than white space; recorded answers bill these. */
const billable = (content: string): number => content.replace(/\s/g, "").length

const textRefusal = (
  asked: ReadonlyArray<TextInstance>,
  { autoTruncate }: TextParameters,
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

const textPrediction = (instance: TextInstance, parameters: TextParameters, facts: EmbeddingFacts) => {
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
    textInstances(request.instances, "instances") ?? textParameters(facts)(request.parameters ?? {}, "parameters")
  if (mismatch !== undefined) return invalidArgument(mismatchMessage(mismatch))
  const asked = withoutNulls(request.instances) as ReadonlyArray<TextInstance> // The shape is checked above.
  const parameters = withoutNulls(request.parameters ?? {}) as TextParameters // The shape is checked above.
  const error = textRefusal(asked, parameters, facts)
  if (error !== undefined) return error
  return jsonAnswer(200, {
    predictions: asked.map((instance) => textPrediction(instance, parameters, facts)),
    metadata: { billableCharacterCount: asked.reduce((sum, { content }) => sum + billable(content), 0) }
  })
}

interface Media {
  readonly bytesBase64Encoded?: string
  readonly gcsUri?: string
}

interface MediaInstance {
  readonly text?: string
  readonly image?: Media
  readonly video?: Media & { readonly videoSegmentConfig?: Segment }
}

interface Segment {
  readonly startOffsetSec?: number
  readonly endOffsetSec?: number
  readonly intervalSec?: number
}

const seconds = nullable(integer(0, 86_400))
const media = { bytesBase64Encoded: nullable(text), gcsUri: nullable(text), mimeType: nullable(text) }
const segment = closedRecord({
  startOffsetSec: seconds,
  endOffsetSec: seconds,
  intervalSec: nullable(integer(4, 86_400))
})

const mediaInstances: Check = list(
  closedRecord({
    text: nullable(text),
    image: nullable(closedRecord(media)),
    video: nullable(closedRecord({ ...media, videoSegmentConfig: nullable(segment) }))
  })
)

const sizes = [128, 256, 512, 1408]
const dimension: Check = (value, path) =>
  typeof value === "number" && sizes.includes(value) ? undefined : { path, expected: `one of ${sizes.join(", ")}` }
const mediaParameters: Check = closedRecord({ dimension: nullable(dimension) })

/** Media must have either bytes or a Cloud Storage address. */
const sourceMismatch = (source: Media | undefined, path: string): Mismatch | undefined => {
  if (source === undefined) return undefined
  const { bytesBase64Encoded: bytes, gcsUri: uri } = source
  if ((bytes === undefined) === (uri === undefined)) return { path, expected: "either bytesBase64Encoded or gcsUri" }
  if (uri !== undefined && !uri.startsWith("gs://")) return { path: `${path}.gcsUri`, expected: "a gs:// URI" }
  if (bytes !== undefined && !/^[A-Za-z0-9+/]+={0,2}$/.test(bytes))
    return { path: `${path}.bytesBase64Encoded`, expected: "base64" }
  return undefined
}

const nameOf = (source: Media): string => source.bytesBase64Encoded ?? source.gcsUri ?? ""

const defaultIntervalSec = 16
const defaultEndSec = 120

const videoEmbeddings = (video: NonNullable<MediaInstance["video"]>, size: number) => {
  const { startOffsetSec, endOffsetSec, intervalSec } = video.videoSegmentConfig ?? {}
  const start = startOffsetSec ?? 0
  const end = Math.max(endOffsetSec ?? defaultEndSec, start + 1)
  const step = intervalSec ?? defaultIntervalSec
  return Array.from({ length: Math.ceil((end - start) / step) }, (_, at) => {
    const from = start + at * step
    return {
      startOffsetSec: from,
      endOffsetSec: Math.min(end, from + step),
      embedding: embed(`${nameOf(video)} ${from}`, size)
    }
  })
}

export const embedMedia: Predict = (request, { route }) => {
  const facts = embeddingFacts(route.target.id)
  const mismatch =
    mediaInstances(request.instances, "instances") ?? mediaParameters(request.parameters ?? {}, "parameters")
  if (mismatch !== undefined) return invalidArgument(mismatchMessage(mismatch))
  const asked = withoutNulls(request.instances) as ReadonlyArray<MediaInstance> // The shape is checked above.
  const [instance] = asked
  if (instance === undefined || asked.length > facts.mostInstances) {
    return invalidArgument(`${facts.mostInstances} instance(s) is allowed per prediction. Actual: ${asked.length}`)
  }
  const { text: words, image, video } = instance
  const source = sourceMismatch(image, "instances[0].image") ?? sourceMismatch(video, "instances[0].video")
  if (source !== undefined) return invalidArgument(mismatchMessage(source))
  if (!words && image === undefined && video === undefined)
    return invalidArgument("At least one of text, image or video must be given.")
  if (textTokens(words ?? "") > facts.mostTokens)
    return invalidArgument(`The text is longer than ${facts.mostTokens} tokens.`)
  // The parameters were validated above.
  const wanted =
    (withoutNulls(request.parameters) as { readonly dimension?: number } | undefined)?.dimension ?? facts.size
  return jsonAnswer(200, {
    predictions: [
      {
        ...(words ? { textEmbedding: embed(words, wanted) } : {}),
        ...(image === undefined ? {} : { imageEmbedding: embed(nameOf(image), wanted) }),
        ...(video === undefined ? {} : { videoEmbeddings: videoEmbeddings(video, facts.size) })
      }
    ],
    deployedModelId: "demo"
  })
}
