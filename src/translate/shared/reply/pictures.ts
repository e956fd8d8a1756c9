// Pictures of an answer as chat clients read them: Markdown links in the text, or OpenRouter's `images`.
// Must not depend on the upstream that drew them. Rule: W36.
import type { ChatChunk, ChatCompletion } from "../../../wire/openai/ChatReply.ts"
import type { ContentPart, ImageLink } from "../../../wire/openai/Extensions.ts"

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
