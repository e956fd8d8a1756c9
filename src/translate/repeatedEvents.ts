// Recognises events that repeat the one before them but for their text, so that they are not parsed and checked again.
// Must not depend on a dialect, or on what the text means.
import * as Result from "effect/Result"
import { type Json, parseJsonText } from "../domain/text/json.ts"

/** What differs between the events of an answer's text. */
export interface RepeatPlace {
  /** The path of the text in an event. */
  readonly path: readonly [string, ...ReadonlyArray<string | number>]
  /** The member of an event with token counts. Its integers may differ, because the last event of a run is read whole. */
  readonly counts: string
}

/** An event equal to `like` but for the text and the counts. An event of the same form follows it, with later counts. */
export class RepeatedEvent {
  readonly like: Json
  readonly text: string

  constructor(like: Json, text: string) {
    this.like = like
    this.text = text
  }
}

/** The JSON text of an event around its text. */
interface EventFrame {
  /** Everything up to the text, its opening quote included. */
  readonly head: string
  /** Everything from the text's closing quote on; an integer stands between two pieces. */
  readonly pieces: ReadonlyArray<string>
}

/** An event that was read whole: its JSON text, and what it is. */
interface ReadEvent {
  readonly data: string
  readonly value: () => Json
}

/** Longer events carry media or sources; their text is a small part of them. */
const mostCharacters = 16 * 1024

/**
 * The form of the events of one network read. Two events that differ in their text and counts alone give it; from then
 * on an event of that form costs the search for the end of its text: 0.2 µs instead of 1.4 µs.
 */
export class EventForms {
  private readonly place: RepeatPlace
  private form: (EventFrame & { readonly like: Json }) | undefined
  private before: ReadEvent | undefined

  constructor(place: RepeatPlace) {
    this.place = place
  }

  /** Undefined: the event has to be read whole. */
  repeated(data: string): RepeatedEvent | undefined {
    const { form } = this
    const text = form === undefined ? undefined : textIn(form, data)
    return form === undefined || text === undefined ? undefined : new RepeatedEvent(form.like, text)
  }

  /**
   * The bytes of the text of a repeated event between two places, for readers that need nothing else of it; undefined
   * where the event has to be read whole. `text` has one character for each byte.
   */
  repeatedBytes(text: string, from: number, to: number): number | undefined {
    const { form } = this
    const close = form === undefined ? -1 : textEnd(form, text, from, to)
    return form === undefined || close === -1 ? undefined : bytesOfString(text.slice(from + form.head.length, close))
  }

  /** Learns from an event that was read whole. The value is asked for where the text may give a form. */
  learn(data: string, value: () => Json): void {
    if (data.length > mostCharacters) return
    const after = { data, value }
    this.form = this.before === undefined ? undefined : formOf(this.before, after, this.place)
    this.before = after
  }
}

/**
 * The two texts differ, and no other string of the two events does: so the text between head and pieces is the one at
 * the path.
 */
const formOf = (before: ReadEvent, after: ReadEvent, { counts, path }: RepeatPlace): EventForms["form"] => {
  const open = valueOf(before.data, String(path.at(-1)))
  const head = open === undefined ? "" : before.data.slice(0, open + 1)
  if (head === "" || !hasAt(after.data, head, 0)) return undefined
  const pieces = piecesOf(before.data.slice(closingQuote(before.data, head.length)), path.length, counts)
  const text = textIn({ head, pieces }, after.data)
  if (text === undefined) return undefined
  const like = after.value()
  const earlier = stringAt(before.value(), path)
  const isPlace = earlier !== undefined && text !== earlier && text === stringAt(like, path)
  return isPlace ? { like, head, pieces } : undefined
}

const stringAt = (event: Json, path: RepeatPlace["path"]): string | undefined => {
  let value: unknown = event
  for (const step of path) {
    if (typeof value !== "object" || value === null) return undefined
    value = Reflect.get(value, step)
  }
  return typeof value === "string" ? value : undefined
}

const backslash = 0x5c

/**
 * The opening quote of the first text with this key. A quote after a letter closes a string, and a closed string before
 * a colon is a key.
 */
const valueOf = (data: string, key: string): number | undefined => {
  const at = data.indexOf(`"${key}"`)
  if (at === -1) return undefined
  const colon = /\s*:\s*"/y
  colon.lastIndex = at + key.length + 2
  return colon.test(data) ? colon.lastIndex - 1 : undefined
}

/** The index of the quote that ends the string whose content begins at `from`; -1 for none. */
const closingQuote = (data: string, from: number): number => {
  let at = data.indexOf('"', from)
  while (at !== -1 && isEscaped(data, from, at)) at = data.indexOf('"', at + 1)
  return at
}

const isEscaped = (data: string, from: number, at: number): boolean => {
  let first = at
  while (first > from && data.charCodeAt(first - 1) === backslash) first--
  return (at - first) % 2 === 1
}

const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]|-?\d[\d.eE+-]*/g
/** Integers that a `number` holds exactly. */
const plainInteger = /^(?:0|[1-9]\d{0,14})$/

/** Cuts the rest of an event at the integers of its counts. `rest` begins with the closing quote at this depth. */
const piecesOf = (rest: string, startDepth: number, counts: string): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let start = 0
  let depth = startDepth
  let isInside = false
  token.lastIndex = 1
  for (let found = token.exec(rest); found !== null; found = token.exec(rest)) {
    const [word, colon] = found
    if (word === "{" || word === "[") depth++
    else if (word === "}" || word === "]") depth--
    else if (colon !== undefined && depth === 1) isInside = word.slice(0, -colon.length) === `"${counts}"`
    else if (isInside && plainInteger.test(word)) {
      pieces.push(rest.slice(start, found.index))
      start = token.lastIndex
    }
  }
  return [...pieces, rest.slice(start)]
}

/** The closing quote of the text of an event of this form; -1 for another event. */
const textEnd = ({ head, pieces }: EventFrame, text: string, from: number, to: number): number => {
  if (!hasAt(text, head, from)) return -1
  const close = closingQuote(text, from + head.length)
  return close !== -1 && endsWithPieces(pieces, text, close, to) ? close : -1
}

/** The text of an event of this form. Text, integers and pieces are JSON, so the event is. */
const textIn = (frame: EventFrame, data: string): string | undefined => {
  const close = textEnd(frame, data, 0, data.length)
  return close === -1 ? undefined : stringIn(data.slice(frame.head.length, close))
}

/** V8 compares slices by words and `startsWith` by characters: 70 ns instead of 200 for 175 characters. */
const hasAt = (data: string, piece: string, at: number): boolean => data.slice(at, at + piece.length) === piece

const endsWithPieces = (pieces: ReadonlyArray<string>, text: string, from: number, to: number): boolean => {
  let at = from
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index] ?? ""
    if (index > 0) at = integerEnd(text, at)
    if (at === -1 || !hasAt(text, piece, at)) return false
    at += piece.length
  }
  return at === to
}

/** A JSON string with one of these is parsed: it has escapes, or is not JSON. */
const special = /[\\\0-\x1f]/

const stringIn = (content: string): string | undefined => {
  // V8 keeps all text of the read for a slice of it, and readers of the text may collect it: so it is copied.
  if (!special.test(content)) return ` ${content}`.slice(1)
  const text = Result.getOrElse(parseJsonText(`"${content}"`), () => undefined)
  return typeof text === "string" ? text : undefined
}

/** The bytes of a string without its escapes; undefined where the content is no JSON string. */
const bytesOfString = (content: string): number | undefined => {
  if (!special.test(content)) return content.length
  // Other escapes stand for one byte each.
  const hasCodes = content.includes("\\u")
  const text = stringIn(hasCodes ? Buffer.from(content, "latin1").toString() : content)
  return hasCodes && text !== undefined ? Buffer.byteLength(text) : text?.length
}

const zero = 0x30
const nine = 0x39
const mostDigits = 15

/** The end of a plain integer; -1 for none. */
const integerEnd = (data: string, from: number): number => {
  if (data.charCodeAt(from) === zero) return from + 1
  let at = from
  while (at - from <= mostDigits && data.charCodeAt(at) >= zero && data.charCodeAt(at) <= nine) at++
  return at === from || at - from > mostDigits ? -1 : at
}
