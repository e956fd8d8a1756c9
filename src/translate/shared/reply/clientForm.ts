// The form of an answer that a client reads: strict fields, pictures in the text, the text of custom tools.
// Must not depend on the upstream that answered; passed-through replies use the same schemas. Rules: R313, W21, W36.
import { hasKeys, isJsonObject } from "../../../domain/text/json.ts"
import type { TokenCount } from "../../../wire/openai/Chat.ts"
import type {
  ChatChunk,
  ChatCompletion,
  ContentPart,
  ImageLink,
  ToolCallDelta
} from "../../../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../../../wire/openai/Embeddings.ts"
import type { ImageList } from "../../../wire/openai/Images.ts"
import { customInput } from "../chat-request/toolCalls.ts"

/** The part of a value that a schema keeps; undefined removes the value. */
type Keep = (value: unknown) => unknown

const keepAny: Keep = (value) => value

/** Keeps only the members of a set. */
const keepMembers = (...members: ReadonlyArray<unknown>): Keep => {
  const known = new Set(members)
  return (value) => (known.has(value) ? value : undefined)
}

/** Applies a schema to each element of a list. */
const keepEach =
  (keep: Keep): Keep =>
  (value) =>
    Array.isArray(value) ? value.map(keep) : value

/**
 * Keeps only these fields of an object. Runs on every answer and chunk, so names and schemas are prepared in advance.
 */
const keepFields = (shape: Readonly<Record<string, Keep>>): Keep => {
  const names = Object.keys(shape)
  const keeps = Object.values(shape)
  return (value) => {
    if (!isJsonObject(value)) return value
    const strict: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? ""
      const inner = value[name]
      if (inner === undefined) continue
      const strictValue = keeps[at]?.(inner)
      if (strictValue !== undefined) strict[name] = strictValue
    }
    return strict
  }
}

const topLogprob = { token: keepAny, logprob: keepAny, bytes: keepAny }
const logprobs: Keep = (() => {
  const tokens = keepEach(keepFields({ ...topLogprob, top_logprobs: keepEach(keepFields(topLogprob)) }))
  return keepFields({ content: tokens, refusal: tokens })
})()

const usage: Keep = keepFields({
  prompt_tokens: keepAny,
  completion_tokens: keepAny,
  total_tokens: keepAny,
  prompt_tokens_details: keepFields({
    audio_tokens: keepAny,
    cached_tokens: keepAny,
    text_tokens: keepAny,
    image_tokens: keepAny,
    cache_write_tokens: keepAny
  }),
  completion_tokens_details: keepFields({
    accepted_prediction_tokens: keepAny,
    audio_tokens: keepAny,
    reasoning_tokens: keepAny,
    text_tokens: keepAny,
    rejected_prediction_tokens: keepAny
  })
})

/** Some upstreams use tiers of their own. */
const tiers = keepMembers("auto", "default", "flex", "scale", "priority", "fast", null)

const audio: Keep = keepFields({ id: keepAny, data: keepAny, expires_at: keepAny, transcript: keepAny })
const functionFields: Keep = keepFields({ name: keepAny, arguments: keepAny })
const envelope = {
  id: keepAny,
  object: keepAny,
  created: keepAny,
  model: keepAny,
  service_tier: tiers,
  system_fingerprint: keepAny,
  moderation: keepAny,
  usage
}

const completion: Keep = keepFields({
  ...envelope,
  metadata: keepAny,
  choices: keepEach(
    keepFields({
      index: keepAny,
      finish_reason: keepAny,
      logprobs,
      message: keepFields({
        role: keepAny,
        content: keepAny,
        refusal: keepAny,
        tool_calls: keepEach(
          keepFields({
            id: keepAny,
            type: keepAny,
            function: functionFields,
            custom: keepFields({ name: keepAny, input: keepAny })
          })
        ),
        function_call: functionFields,
        annotations: keepEach(
          keepFields({
            type: keepAny,
            url_citation: keepFields({ start_index: keepAny, end_index: keepAny, url: keepAny, title: keepAny })
          })
        ),
        audio
      })
    })
  )
})

const chunk: Keep = keepFields({
  ...envelope,
  obfuscation: keepAny,
  choices: keepEach(
    keepFields({
      index: keepAny,
      finish_reason: keepAny,
      logprobs,
      delta: keepFields({
        role: keepAny,
        content: keepAny,
        refusal: keepAny,
        tool_calls: keepEach(keepFields({ index: keepAny, id: keepAny, type: keepAny, function: functionFields })),
        function_call: functionFields,
        // Not in the published schema, but in OpenAI's own streams and in its clients.
        audio
      })
    })
  )
})

const embeddings: Keep = keepFields({
  object: keepAny,
  model: keepAny,
  usage: keepFields({ prompt_tokens: keepAny, total_tokens: keepAny }),
  data: keepEach(keepFields({ object: keepAny, index: keepAny, embedding: keepAny }))
})

const images: Keep = keepFields({
  created: keepAny,
  background: keepAny,
  output_format: keepAny,
  quality: keepAny,
  size: keepAny,
  usage: keepAny,
  data: keepEach(keepFields({ b64_json: keepAny, url: keepAny, revised_prompt: keepAny }))
})

/** The gateway's own answer has no published schema; the standard fields are those all providers share. */
const tokenCount: Keep = keepFields({
  object: keepAny,
  model: keepAny,
  input_tokens: keepAny,
  input_tokens_details: keepAny
})

// Casts of all functions below: a schema keeps every field of the published type, so the result has that type.

/** A completion without extension fields. */
export const strictlyCompletion = (full: ChatCompletion): ChatCompletion => completion(full) as ChatCompletion

/** A chunk without extension fields; undefined when it held only extensions. */
export const strictlyChunk = (full: ChatChunk): ChatChunk | undefined => {
  const strict = chunk(full) as ChatChunk
  if (full.choices.length === 0) return strict
  const choices = strict.choices.filter(
    (choice, position) =>
      choice.finish_reason !== null ||
      hasKeys(choice.delta) ||
      choice.logprobs ||
      !hasKeys(full.choices[position]?.delta ?? {})
  )
  if (choices.length === strict.choices.length) return strict
  return choices.length > 0 || strict.usage ? { ...strict, choices } : undefined
}

// A strict form has the type of the full one, whose other fields are optional.
export const strictlyEmbeddings = (full: EmbeddingList): EmbeddingList => embeddings(full) as EmbeddingList
export const strictlyImages = (full: ImageList): ImageList => images(full) as ImageList
export const strictlyTokenCount = (full: TokenCount): TokenCount => tokenCount(full) as TokenCount

/** What an answer cost. */
export interface AnswerCost {
  readonly dollars: number
  /** Something was used whose price is not known. */
  readonly isPartial: boolean
}

/** The answer or the last chunk with its cost next to its counts, as OpenRouter has it. Strict forms have no place for it. */
export const withCost = <A extends { readonly usage?: object | null }>(full: A, cost: AnswerCost | undefined): A =>
  cost === undefined || !full.usage
    ? full
    : {
        ...full,
        usage: { ...full.usage, cost: cost.dollars, ...(cost.isPartial ? { cost_partial: true } : {}) }
      }

// Pictures of an answer as chat clients read them: Markdown links in the text, or OpenRouter's `images`.

/** What a message and a delta have in common. */
interface Pictured {
  readonly content?: string | null
  readonly content_parts?: ReadonlyArray<ContentPart>
}

type Picture = Extract<ContentPart, { readonly type: "image" }>

const isPicture = (part: ContentPart): part is Picture => part.type === "image"

const addressOf = ({ image: { b64_json: data, mime_type: mime } }: Picture): string => `data:${mime};base64,${data}`

export const hasPictures = ({ content_parts: parts }: Pictured): boolean => parts?.some(isPicture) === true

/** Each link has a line of its own. */
const linkOf = (picture: Picture): string => `\n![image](${addressOf(picture)})\n`

/** The content with a Markdown link at the place of each picture. */
const withLinks = <A extends Pictured>(holder: A): A => {
  const { content_parts: parts = [] } = holder
  if (!hasPictures(holder)) return holder
  const hasTexts = parts.some((part) => part.type === "text")
  const linked = parts.map((part) => (isPicture(part) ? linkOf(part) : part.text)).join("")
  return { ...holder, content: hasTexts ? linked : (holder.content ?? "") + linked }
}

/** The pictures once more, where OpenRouter's clients look for them. */
const withImages = <A extends Pictured>(holder: A): A => {
  const pictures = holder.content_parts?.filter(isPicture) ?? []
  if (pictures.length === 0) return holder
  const images = pictures.map((picture, index): ImageLink => ({
    type: "image_url",
    image_url: { url: addressOf(picture) },
    index
  }))
  return { ...holder, images }
}

/** The form in which a client wants pictures; undefined: OpenAI's, which has none. */
export type PictureForm = "markdown" | undefined

const formed = <A extends Pictured>(holder: A, form: PictureForm, strict: boolean): A => {
  if (holder.content_parts === undefined) return holder
  const linked = form === "markdown" ? withLinks(holder) : holder
  return strict ? linked : withImages(linked)
}

export const picturedCompletion = (full: ChatCompletion, form: PictureForm, strict: boolean): ChatCompletion =>
  full.choices.some(({ message }) => message.content_parts !== undefined)
    ? {
        ...full,
        choices: full.choices.map((choice) => ({ ...choice, message: formed(choice.message, form, strict) }))
      }
    : full

export const picturedChunk = (chunk: ChatChunk, form: PictureForm, strict: boolean): ChatChunk =>
  chunk.choices.some(({ delta }) => delta.content_parts !== undefined)
    ? { ...chunk, choices: chunk.choices.map((choice) => ({ ...choice, delta: formed(choice.delta, form, strict) })) }
    : chunk

/** What a strict answer leaves out of a message, in the words of the header that names it. */
export const omittedFrom = ({ choices }: ChatCompletion, form: PictureForm): ReadonlyArray<string> => [
  ...(form === undefined && choices.some(({ message }) => hasPictures(message)) ? ["images"] : []),
  ...(choices.some(({ message }) => message.content_blocks?.some(({ type }) => type === "provider_part"))
    ? ["provider_parts"]
    : [])
]

// Calls of custom tools in an answer: the calls of their stand-ins come back with the plain text that they carry.

/** A completion with the calls of these tools in their own form. */
export const customCompletion = (completion: ChatCompletion, customs: ReadonlySet<string> | undefined): object => {
  if (customs === undefined || customs.size === 0) return completion
  return {
    ...completion,
    choices: completion.choices.map((choice) => {
      const { tool_calls: calls } = choice.message
      if (calls === undefined) return choice
      const shown = calls.map(({ function: called, ...call }) =>
        customs.has(called.name)
          ? { ...call, type: "custom", custom: { name: called.name, input: customInput(called.arguments) } }
          : { ...call, function: called }
      )
      return { ...choice, message: { ...choice.message, tool_calls: shown } }
    })
  }
}

/** A call while its arguments come: they are JSON, so that its text is known when they are whole. */
interface OpenCall {
  readonly index: number
  text: string
}

/** The calls of a delta as they are shown. */
type ShownCalls = ReadonlyArray<object>

/** Holds back the arguments of custom calls until each call has ended. */
export class CustomCalls {
  private readonly names: ReadonlySet<string>
  /** By choice. */
  private readonly open = new Map<number, OpenCall>()

  constructor(names: ReadonlySet<string>) {
    this.names = names
  }

  /** The chunk with custom calls in their own form; undefined when all of it is held back. */
  shown(chunk: ChatChunk): object | undefined {
    const choices = chunk.choices.flatMap((choice) => {
      const { tool_calls: given, ...delta } = choice.delta
      const calls = (given ?? []).flatMap((call) => this.call(choice.index, call))
      const all = choice.finish_reason === null ? calls : [...calls, ...this.ended(choice.index)]
      if (given !== undefined && all.length === 0 && choice.finish_reason === null && !hasKeys(delta)) return []
      return [{ ...choice, delta: all.length === 0 ? delta : { ...delta, tool_calls: all } }]
    })
    return choices.length === 0 && chunk.choices.length > 0 ? undefined : { ...chunk, choices }
  }

  private call(choice: number, call: ToolCallDelta): ShownCalls {
    const { function: called, ...rest } = call
    const { arguments: text = "", name } = called
    const open = this.open.get(choice)
    if (open?.index === call.index) {
      open.text += text
      return []
    }
    const before = this.ended(choice)
    if (name === undefined || !this.names.has(name)) return [...before, call]
    this.open.set(choice, { index: call.index, text })
    return [...before, { ...rest, type: "custom", custom: { name, input: "" } }]
  }

  private ended(choice: number): ShownCalls {
    const open = this.open.get(choice)
    if (open === undefined) return []
    this.open.delete(choice)
    return [{ index: open.index, custom: { input: customInput(open.text) } }]
  }
}
