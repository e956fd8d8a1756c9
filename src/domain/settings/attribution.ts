// Labels that an operator puts on calls to Vertex AI, so that Google's billing export splits by them: their sources and their grammar.
// It must not know which calls take labels, or how a label is sent.
// cloud.google.com/vertex-ai/generative-ai/docs/multimodal/add-labels-to-api-calls
import * as Schema from "effect/Schema"

/** Google takes 64 labels on a call of its own models, and 32 on one of its partners. */
export const mostLabels = 64
const mostOfOperator = 32

const name = /^[a-z][a-z0-9_-]{0,62}$/
const plain = /^[a-z0-9_-]{0,63}$/
const metadataPrefix = "metadata."

/** Words that a later version may give a meaning of their own. */
const reserved: ReadonlySet<string> = new Set(["team", "end_user"])

const source = Schema.String.check(
  Schema.makeFilter((text: string) =>
    (text !== "" && plain.test(text) && !reserved.has(text)) || /^metadata\..{1,64}$/.test(text)
      ? undefined
      : "expected key, metadata.NAME, or a fixed text of lower-case letters, digits, _ and -, at most 63; team and end_user are reserved"
  )
)

/** The section `attribution` of the configuration file. */
export const attributionSection = Schema.Struct({
  labels: Schema.optionalKey(
    Schema.Record(Schema.String, source)
      .check(
        Schema.makeFilter((labels: LabelSources) =>
          Object.keys(labels).every((label) => name.test(label))
            ? undefined
            : "expected names of labels: a lower-case letter, then letters, digits, _ and -, at most 63 characters"
        ),
        Schema.isMaxProperties(mostOfOperator)
      )
      .annotate({
        description:
          "Labels on calls to Vertex AI, by name: key for the name of the gateway key, metadata.NAME, or a fixed text. Those of the request win. None unless set."
      })
  )
})

export type LabelSources = Readonly<Record<string, string>>
export type Labels = Readonly<Record<string, string>>

/** Who asked. */
interface Asking {
  readonly key: { readonly name: string }
  readonly metadata: Readonly<Record<string, string>>
}

const digestDigits = 8
const longestStem = 63 - 1 - digestDigits

/** The text as a label may have it. A changed one ends in its digest, so that two texts stay two labels. */
export const labelValue = (text: string, digest: (text: string) => string): string =>
  plain.test(text)
    ? text
    : `${text
        .toLowerCase()
        .replace(/[^a-z0-9_-]+/g, "-")
        .slice(0, longestStem)}-${digest(text).slice(0, digestDigits)}`

/** The labels of a request; metadata that it lacks has none. */
export const attributionLabels = (
  sources: LabelSources,
  { key, metadata }: Asking,
  valueOf: (text: string) => string
): Labels => {
  const labels: Record<string, string> = {}
  for (const [label, from] of Object.entries(sources)) {
    const field = from.startsWith(metadataPrefix) ? from.slice(metadataPrefix.length) : undefined
    const text =
      from === "key"
        ? key.name
        : field === undefined
          ? from
          : Object.hasOwn(metadata, field)
            ? metadata[field]
            : undefined
    if (text !== undefined) labels[label] = valueOf(text)
  }
  return labels
}

/** The labels under those of the call itself, as many as Google takes. */
export const labelsUnder = (ofCall: Labels, labels: Labels): Labels => {
  const room = mostLabels - Object.keys(ofCall).length
  const more = Object.entries(labels).filter(([label]) => !Object.hasOwn(ofCall, label))
  return { ...ofCall, ...Object.fromEntries(more.slice(0, Math.max(0, room))) }
}
