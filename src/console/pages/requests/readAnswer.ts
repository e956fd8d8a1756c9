// Reads a kept answer of any dialect: its events, its text, its thoughts, and its safety ratings.
// It must not know where an answer is shown.
import { fieldsOf, listOf, readJson, textOf } from "../../readJson.ts"

export interface Rating {
  readonly category: string
  readonly probability: string
  readonly isBlocked: boolean
}

export interface ReadAnswer {
  /** The body, or the data of each event. A line that is no JSON stays a text. */
  readonly events: ReadonlyArray<unknown>
  readonly isStream: boolean
  readonly text: string
  readonly thoughts: string
  readonly ratings: ReadonlyArray<Rating>
}

/** Texts and thoughts of one event or body. */
interface Piece {
  readonly text: string
  readonly thoughts: string
}

const joined = (pieces: ReadonlyArray<Piece>): Piece => ({
  text: pieces.map(({ text }) => text).join(""),
  thoughts: pieces.map(({ thoughts }) => thoughts).join("")
})

/** A choice of a chat completion or of a chunk. */
const ofChoice = (choice: unknown): Piece => {
  const { delta, message } = fieldsOf(choice)
  const { content, reasoning_content: thoughts } = fieldsOf(message ?? delta)
  return { text: textOf(content), thoughts: textOf(thoughts) }
}

/** A part of Gemini's content. */
const ofPart = (part: unknown): Piece => {
  const { text, thought } = fieldsOf(part)
  return thought === true ? { text: "", thoughts: textOf(text) } : { text: textOf(text), thoughts: "" }
}

/** A block of a Claude message, or of an output item of a response. */
const ofBlock = (block: unknown): Piece => {
  const { content, text, thinking } = fieldsOf(block)
  return Array.isArray(content) ? joined(content.map(ofBlock)) : { text: textOf(text), thoughts: textOf(thinking) }
}

const pieceOf = (event: unknown): Piece => {
  const { candidates, choices, content, delta, output, type } = fieldsOf(event)
  if (Array.isArray(choices)) return joined(choices.map(ofChoice))
  if (Array.isArray(candidates))
    return joined(candidates.flatMap((one) => listOf(fieldsOf(fieldsOf(one)["content"])["parts"]).map(ofPart)))
  if (type === "content_block_delta") return ofBlock(delta)
  if (type === "response.output_text.delta") return { text: textOf(delta), thoughts: "" }
  if (type === "response.reasoning_summary_text.delta") return { text: "", thoughts: textOf(delta) }
  return joined([...listOf(content), ...listOf(output)].map(ofBlock))
}

const ratingOf = (value: unknown): Rating => {
  const { blocked, category, probability } = fieldsOf(value)
  return {
    category: textOf(category).replace("HARM_CATEGORY_", "").replaceAll("_", " ").toLowerCase(),
    probability: textOf(probability).toLowerCase(),
    isBlocked: blocked === true
  }
}

/** The ratings of the prompt, of a choice, or of a candidate. */
const ratingsOf = (event: unknown): ReadonlyArray<Rating> => {
  const { candidates, choices, promptFeedback } = fieldsOf(event)
  return [...listOf(candidates), ...listOf(choices), promptFeedback].flatMap((one) =>
    listOf(fieldsOf(one)["safetyRatings"]).map(ratingOf)
  )
}

/** The data of the events of a stream; undefined for a text that is no stream. */
const dataOf = (text: string): ReadonlyArray<string> | undefined =>
  /^(data|event|:)/.test(text)
    ? text.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice("data:".length).trim()] : []))
    : undefined

export const readAnswer = (text: string): ReadAnswer => {
  const data = dataOf(text)
  const body = data === undefined ? (readJson(text) ?? text) : undefined
  const events = data?.map((line) => readJson(line) ?? line) ?? (Array.isArray(body) ? body : [body])
  const rated = events.map(ratingsOf).filter((ratings) => ratings.length > 0)
  return { events, isStream: data !== undefined, ...joined(events.map(pieceOf)), ratings: rated.at(-1) ?? [] }
}
