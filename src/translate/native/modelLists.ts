// The models a key may call, as Google's two products and Anthropic list models.
// It must not know accounts or keys. Rules: N109, N701-N704.
import * as Result from "effect/Result"
import { parseFamily, parseModelRef } from "../../domain/ModelRef.ts"
import { builtInModels } from "../../domain/models/modelTable.ts"

/** A row of the OpenAI list. */
export interface ListedId {
  /** `@slug/model`, or an operator's name of a model. */
  readonly id: string
  /** `@slug/model`: what the id stands for. */
  readonly target: string
  /** Seconds of the day of release; 0 or absent where it is not known. */
  readonly created?: number
}

type Kind = "gemini" | "embedding" | "claude"

/** What a row is for these dialects; undefined where they do not list it. */
const kindOf = (id: string): { readonly kind: Kind; readonly modelId: string; readonly rest: string } | undefined => {
  const ref = Result.getOrElse(parseModelRef(id), () => undefined)
  const read = ref === undefined ? undefined : Result.getOrElse(parseFamily(ref.rest), () => undefined)
  if (ref === undefined || read === undefined) return undefined
  const { family, modelId } = read
  if (family === "claude") return { kind: "claude", modelId, rest: ref.rest }
  const { family: kind } = builtInModels.find(modelId).record
  if (family !== "gemini" || kind === "imagen") return undefined
  return { kind: kind === "embedding" ? "embedding" : "gemini", modelId, rest: ref.rest }
}

const methods: Readonly<Record<"gemini" | "embedding", ReadonlyArray<string>>> = {
  gemini: ["generateContent", "streamGenerateContent", "countTokens"],
  embedding: ["embedContent", "batchEmbedContents", "countTokens"]
}

/** `Gemini 2.5 Flash` of `gemini-2.5-flash`. */
const displayName = (modelId: string): string =>
  modelId
    .split(/[-@]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(" ")

export interface GoogleModel {
  readonly name: string
  readonly baseModelId: string
  readonly version: string
  readonly displayName: string
  readonly supportedGenerationMethods: ReadonlyArray<string>
}

/** The Gemini API's models. */
export const googleModels = (rows: ReadonlyArray<ListedId>): ReadonlyArray<GoogleModel> =>
  rows.flatMap(({ id, target }) => {
    const read = kindOf(target)
    if (read === undefined || read.kind === "claude") return []
    return [
      {
        name: `models/${id}`,
        baseModelId: read.modelId,
        version: /-(\d{3})$/.exec(read.modelId)?.[1] ?? "001",
        displayName: displayName(read.modelId),
        supportedGenerationMethods: methods[read.kind]
      }
    ]
  })

export interface PublisherModel {
  readonly name: string
  readonly versionId: string
  readonly launchStage: "GA"
}

/** Vertex AI's models of one publisher. */
export const publisherModels = (
  rows: ReadonlyArray<ListedId>,
  publisher: "google" | "anthropic"
): ReadonlyArray<PublisherModel> =>
  rows.flatMap(({ id, target }) => {
    const read = kindOf(target)
    if (read === undefined || (read.kind === "claude") !== (publisher === "anthropic")) return []
    return [
      {
        name: `publishers/${publisher}/models/${id}`,
        versionId: /[@-](\d{3}|\d{8})$/.exec(read.modelId)?.[1] ?? "default",
        launchStage: "GA"
      }
    ]
  })

export interface AnthropicModel {
  readonly type: "model"
  readonly id: string
  readonly display_name: string
  readonly created_at: string
}

/** The moment Anthropic's own API gives for models whose release it does not know. */
const noMoment = "1970-01-01T00:00:00Z"

/** Anthropic's models: those that `/v1/messages` serves, by ids that it takes. */
export const anthropicModels = (rows: ReadonlyArray<ListedId>): ReadonlyArray<AnthropicModel> =>
  rows.flatMap(({ created = 0, id, target }) => {
    const read = kindOf(target)
    const moment = created === 0 ? noMoment : `${new Date(created * 1000).toISOString().slice(0, -5)}Z`
    return read?.kind === "claude"
      ? [{ type: "model", id, display_name: displayName(read.modelId), created_at: moment }]
      : []
  })

const usualPage = 50
const largestPage = 1_000

export interface ModelPage<A> {
  readonly items: ReadonlyArray<A>
  readonly nextPageToken: string | undefined
}

/** One page; the token is the place of its first row, and an unknown token is the beginning. */
export const pageOf = <A>(
  rows: ReadonlyArray<A>,
  size: number | undefined,
  token: string | undefined
): ModelPage<A> => {
  const from = token !== undefined && /^\d{1,6}$/.test(token) ? Number(token) : 0
  const to = from + Math.min(size ?? usualPage, largestPage)
  return { items: rows.slice(from, to), nextPageToken: to < rows.length ? String(to) : undefined }
}

/** What a page of Anthropic's list is asked for; an id that is not in the list counts as absent. */
export interface AnthropicPage {
  readonly limit?: number | undefined
  readonly afterId?: string | undefined
  readonly beforeId?: string | undefined
}

/** Anthropic's page: rows after an id, or the last ones before an id, with the ids of its ends. */
export const anthropicPage = (
  rows: ReadonlyArray<AnthropicModel>,
  { afterId, beforeId, limit = usualPage }: AnthropicPage
) => {
  const size = Math.min(limit, largestPage)
  const before = rows.findIndex(({ id }) => id === beforeId)
  const after = rows.findIndex(({ id }) => id === afterId) + 1
  const from = before < 0 ? after : Math.max(after, before - size)
  const data = rows.slice(from, before < 0 ? from + size : before)
  return {
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: before < 0 ? from + data.length < rows.length : from > after
  }
}
