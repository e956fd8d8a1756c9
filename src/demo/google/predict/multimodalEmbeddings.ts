// Answers predict for multimodalembedding@001: vectors of the text, the image and each interval of the video.
// Must not depend on HTTP.
// Source: Google's multimodal embedding reference.

import { closedRecord, integer, list, mismatchMessage, nullable, text, withoutNulls } from "../shapes/open.ts"
import type { Check, Mismatch } from "../shapes/open.ts"
import { invalidArgument } from "../shared/errors.ts"
import { embeddingFacts } from "../shared/models.ts"
import { textTokens } from "../shared/usage.ts"
import { embed } from "../shared/vectors.ts"
import type { Predict } from "./prediction.ts"

interface Media {
  readonly bytesBase64Encoded?: string
  readonly gcsUri?: string
}

interface Instance {
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

const instances: Check = list(
  closedRecord({
    text: nullable(text),
    image: nullable(closedRecord(media)),
    video: nullable(closedRecord({ ...media, videoSegmentConfig: nullable(segment) }))
  })
)

const sizes = [128, 256, 512, 1408]
const dimension: Check = (value, path) =>
  typeof value === "number" && sizes.includes(value) ? undefined : { path, expected: `one of ${sizes.join(", ")}` }
const parameters: Check = closedRecord({ dimension: nullable(dimension) })

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

const videoEmbeddings = (video: NonNullable<Instance["video"]>, size: number) => {
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
  const mismatch = instances(request.instances, "instances") ?? parameters(request.parameters ?? {}, "parameters")
  if (mismatch !== undefined) return { error: invalidArgument(mismatchMessage(mismatch)) }
  const asked = withoutNulls(request.instances) as ReadonlyArray<Instance> // The shape is checked above.
  const [instance] = asked
  if (instance === undefined || asked.length > facts.mostInstances) {
    return {
      error: invalidArgument(`${facts.mostInstances} instance(s) is allowed per prediction. Actual: ${asked.length}`)
    }
  }
  const { text: words, image, video } = instance
  const source = sourceMismatch(image, "instances[0].image") ?? sourceMismatch(video, "instances[0].video")
  if (source !== undefined) return { error: invalidArgument(mismatchMessage(source)) }
  if (!words && image === undefined && video === undefined)
    return { error: invalidArgument("At least one of text, image or video must be given.") }
  if (textTokens(words ?? "") > facts.mostTokens)
    return { error: invalidArgument(`The text is longer than ${facts.mostTokens} tokens.`) }
  // The parameters were validated above.
  const wanted =
    (withoutNulls(request.parameters) as { readonly dimension?: number } | undefined)?.dimension ?? facts.size
  return {
    body: {
      predictions: [
        {
          ...(words ? { textEmbedding: embed(words, wanted) } : {}),
          ...(image === undefined ? {} : { imageEmbedding: embed(nameOf(image), wanted) }),
          ...(video === undefined ? {} : { videoEmbeddings: videoEmbeddings(video, facts.size) })
        }
      ],
      deployedModelId: "demo"
    }
  }
}
