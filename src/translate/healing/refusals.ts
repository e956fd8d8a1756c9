// Reads the lessons of an upstream's refusal from its own words, unless they quote the call: one row for each known refusal.
// Must not depend on how a call is made. Wordings change, so that patterns are short pieces and ignore case.
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import { type HealRow, isDroppable, type Lesson } from "./lessons.ts"

/** The dialect of a refused call, and whether its body is the client's own. */
export interface RefusedCall {
  readonly dialect: "gemini" | "claude"
  /** True for `/v1/messages`, whose content is never changed. */
  readonly native: boolean
}

interface Refusal {
  readonly row: HealRow
  readonly dialect: RefusedCall["dialect"]
  readonly pattern: RegExp
  /** The refused values; the first group of the pattern unless given, `""` without a group. */
  readonly values?: (match: RegExpExecArray) => ReadonlyArray<string>
  readonly native?: true
}

/** A value of a refusal becomes the name of a lesson, so that its length is bounded. */
const quoted = /`([\w.-]{1,64})`/g
const quotedValues = ([, list = ""]: RegExpExecArray): ReadonlyArray<string> =>
  [...list.matchAll(quoted)].flatMap(([, value]) => value ?? [])

/** A path without the places in lists: a lesson holds for each of them. */
const anyPlace = (path: string): string => path.replace(/(?<=\.)\d+(?=\.|$)/g, "*").slice(0, 128)

/** In order: the first row that matches is the row of the refusal. */
const refusals: ReadonlyArray<Refusal> = [
  {
    row: "H3",
    dialect: "gemini",
    pattern: /unable to submit request because thinking_level "?(minimal|low|medium|high|xhigh)"? is not supported/i
  },
  {
    row: "H2",
    dialect: "gemini",
    pattern: /thinking.?level "?(minimal|low|medium|high|xhigh)"? is not supported/i
  },
  { row: "H1", dialect: "gemini", pattern: /thinking.?level is not supported/i },
  { row: "H4", dialect: "gemini", pattern: /does not support setting thinking_budget to 0/i },
  { row: "H5", dialect: "gemini", pattern: /thinking budget \(?(\d{1,15})\)? is invalid/i },
  { row: "H6", dialect: "gemini", pattern: /budget 0 is invalid/i },
  { row: "H7", dialect: "gemini", pattern: /requests ending with a model turn are not supported/i },
  { row: "H8", dialect: "gemini", pattern: /penalty is not enabled for/i },
  { row: "H9", dialect: "gemini", pattern: /logprobs is not enabled for/i },
  { row: "H10", dialect: "gemini", pattern: /logprobs is not supported for/i },
  { row: "H11", dialect: "gemini", pattern: /multiple candidates is not enabled|candidatecount must be 1\b/i },
  { row: "H12", dialect: "gemini", pattern: /function calling with a response mime type/i },
  { row: "H13", dialect: "gemini", pattern: /function call (?:[^\n]{1,200} )?is missing a `?thought_?signature/i },
  {
    row: "H14",
    dialect: "claude",
    pattern: /\b(temperature|top_p|top_k)\b.? is deprecated for this model/i,
    native: true
  },
  { row: "H15", dialect: "claude", pattern: /does not support assistant message prefill/i },
  { row: "H16", dialect: "claude", pattern: /tool_choice: type "tool" and "any" are not supported/i },
  { row: "H17", dialect: "claude", pattern: /thinking\.type\.disabled"? is not supported/i, native: true },
  {
    row: "H18",
    dialect: "claude",
    pattern: /thinking\.type\.(enabled|between_tools|adaptive)"? is not supported/i,
    native: true
  },
  {
    row: "H18",
    dialect: "claude",
    pattern: /thinking: input tag '(adaptive|enabled|between_tools)' found using 'type' does not match/i,
    native: true
  },
  { row: "H18", dialect: "claude", pattern: /\b(adaptive) thinking is not supported/i, native: true },
  {
    row: "H19",
    dialect: "claude",
    pattern: /"type": "between_tools"\} instead of \{"type": "disabled"/i,
    values: () => ["disabled"],
    native: true
  },
  {
    row: "H19",
    dialect: "claude",
    pattern: /output_config\.effort '(xhigh|max)' is not supported when thinking is disabled/i,
    native: true
  },
  {
    row: "H20",
    dialect: "claude",
    pattern: /unexpected value\(s\) ([^\n]{1,2000}?) for the `?anthropic-beta`? header/i,
    values: quotedValues,
    native: true
  },
  {
    row: "H21",
    dialect: "claude",
    pattern: /\b(context_management|block_binding)(?:\.\w+)*: extra inputs are not permitted/i,
    native: true
  },
  {
    row: "H21",
    dialect: "claude",
    pattern: /\b(?:cache_control)(?:\.\w+)*\.(scope): extra inputs are not permitted/i,
    native: true
  },
  {
    row: "H21",
    dialect: "claude",
    pattern: /(?<![\w.])((?:[a-z]\w{0,40})(?:\.[\w-]{1,41}){0,9}): extra inputs are not permitted/i,
    values: ([, path = ""]) => [anyPlace(path)].filter(isDroppable),
    native: true
  },
  { row: "H23", dialect: "claude", pattern: /invalid `?signature`? in `?thinking`? block\. the block is bound/i },
  // With the words that follow, since a prompt may well name the field.
  {
    row: "H30",
    dialect: "claude",
    pattern: /max_tokens: \d{1,15} > (\d{1,15}), which is the maximum allowed/i,
    native: true
  },
  {
    row: "H30",
    dialect: "gemini",
    pattern:
      /maxoutputtokens value of \d{1,15} but the supported range is from 1 \(inclusive\) to (\d{1,15}) \(exclusive\)/i,
    values: ([, end = ""]) => [String(Number(end) - 1)]
  },
  { row: "H24", dialect: "claude", pattern: /\banthropic_version\b[^\n]{0,60}/i, native: true }
]

/**
 * The lessons of a refusal; none for a text that is not known, or whose known piece the upstream may have quoted from the
 * call. A refused beta header may name several values.
 */
export const readLessons = (
  { dialect, native }: RefusedCall,
  text: string,
  call: QuotableCall
): ReadonlyArray<Lesson> => {
  for (const refusal of refusals) {
    if (refusal.dialect !== dialect || (native && refusal.native !== true)) continue
    const match = refusal.pattern.exec(text)
    if (match === null) continue
    if (isQuoted(match[0], call)) return []
    const values = refusal.values?.(match) ?? [(match[1] ?? "").toLowerCase()]
    return values.map((value) => ({ row: refusal.row, value }))
  }
  return []
}

/** Rows that hold for one conversation or one combination of fields, and hold for no later request. */
const unlearnable: ReadonlySet<HealRow> = new Set(["H12", "H23"])

/** True for a lesson that holds for every later request to the model. */
export const isLearnable = ({ row }: Lesson): boolean => !unlearnable.has(row)

/**
 * The sentence for the end of a refusal that no change of the request can avoid: tools of older models (H22). Undefined
 * where nothing helps.
 */
export const refusalHint = (status: number | undefined, text: string): string | undefined =>
  status === 400 && /does not support tool types: .{0,200}\bcomputer_/i.test(text)
    ? "This model takes the tool type computer_toolset_20260801."
    : undefined

// Finds out whether a piece of a refusal may be a quote of the call that was refused: its words are then no evidence.

/** What an upstream can quote: the body as it was sent, the headers and the model. */
interface QuotableCall {
  readonly body: Json
  readonly headers: Readonly<Record<string, string>>
  readonly target: { readonly modelId: string }
}

/** So many characters at either end of a text are compared with parts of the piece. */
const endLength = 32
/** An end of so many letters, in two words or more, is a quote wherever it is in the piece. */
const endLetters = 16
const head16 = /^(?:[^a-z0-9]*[a-z0-9]){16}/i
const tail16 = /(?:[a-z0-9][^a-z0-9]*){16}$/i
/** So is a whole text of two words or more with so many letters. */
const wholeLetters = 8
/** A longer piece is searched by its beginning, and is not put together from several texts. */
const longestPiece = 128
/** A call with more texts, characters or escapes teaches nothing, because the comparison would take too long. */
const mostTexts = 20_000
const mostCharacters = 1024 * 1024
const mostEscapes = 100_000
/** Escapes within escapes, as of JSON within JSON. */
const deepestEscapes = 3

/** Upstreams quote in a case, with escapes and separators of their own. Letters and digits stay. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, "")

/** A single letter is in every call. */
const isPart = (letters: string): boolean => letters.length > 1 || /^\d$/.test(letters)

const hasWords = (text: string | undefined): boolean => text !== undefined && /\S\s+\S/.test(text)

/** Values and names. The names of the body's own members are the dialect's, unless they are several words. */
function* textsOf({ body, headers, target }: QuotableCall): Generator<string> {
  yield target.modelId
  for (const header of Object.values(headers)) yield* [header, ...header.split(",")]
  const open: Array<Json> = [body]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === "string") yield value
    if (Array.isArray(value)) for (const inner of value) open.push(inner)
    if (!isJsonObject(value)) continue
    for (const [name, inner] of Object.entries(value)) {
      if (value !== body || /\s/.test(name)) yield name
      if (inner !== undefined) open.push(inner)
    }
  }
}

const escapes = /\\u([\da-f]{4})|\\x([\da-f]{2})|%([\da-f]{2})|&#x([\da-f]{1,6});|&#(\d{1,7});|\\[nrtbf]|&[a-z]{2,8};/gi

/** The letters of a piece of a refusal, compared with one text of a call after the other. */
class Quotes {
  private readonly piece: string
  private readonly within: RegExp
  private readonly isTiled: boolean
  /** The numbers of letters with which the piece begins as a text ends. */
  private readonly begun = new Set<number>()
  /** The places from which on the piece is as a text begins. */
  private readonly ending = new Set<number>()
  /** Texts that are part of the piece. */
  private readonly parts = new Set<string>()
  private escapesLeft = mostEscapes

  constructor(piece: string) {
    this.piece = lettersOf(piece)
    this.within = new RegExp(this.piece.slice(0, longestPiece).split("").join("[^a-z0-9]*"), "i")
    this.isTiled = this.piece.length <= longestPiece
  }

  /** True for a text that contains the piece, or has an end that is in the piece, in any spelling. */
  areIn(text: string): boolean {
    let spelled = /[^\0-\x7f]/.test(text) ? text.normalize("NFKD") : text
    for (let left = deepestEscapes; ; left--) {
      if (this.areInSpelled(spelled)) return true
      if (left === 0 || !/[\\%&]/.test(spelled)) return false
      const inner = this.unescaped(spelled)
      if (inner === spelled) return false
      if (inner === undefined) return true
      spelled = inner
    }
  }

  /** True for a piece that is a row of texts: the end of one, whole ones, the beginning of one. */
  areRow(): boolean {
    const open = [...this.begun]
    const reached = new Set(open)
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.ending.has(at) || at === this.piece.length) return true
      for (const part of this.parts) {
        const next = at + part.length
        if (reached.has(next) || !this.piece.startsWith(part, at)) continue
        reached.add(next)
        open.push(next)
      }
    }
    return false
  }

  private areInSpelled(text: string): boolean {
    if (this.within.test(text)) return true
    const isWhole = text.length <= endLength
    const [head, tail] = [text.slice(0, endLength), text.slice(-endLength)]
    const [first, last] = [lettersOf(head), lettersOf(tail)]
    if (this.isTiled) this.keep(first, last, isWhole)
    return (
      (this.has(first.slice(0, endLetters), endLetters) && hasWords(head16.exec(head)?.[0])) ||
      (this.has(last.slice(-endLetters), endLetters) && hasWords(tail16.exec(tail)?.[0])) ||
      (isWhole && this.has(first, wholeLetters) && hasWords(text))
    )
  }

  private has(letters: string, least: number): boolean {
    return letters.length >= least && this.piece.includes(letters)
  }

  private keep(first: string, last: string, isWhole: boolean): void {
    const { begun, ending, parts, piece } = this
    if (isWhole && isPart(first) && piece.includes(first)) parts.add(first)
    for (let count = 1; count <= last.length; count++)
      if (isPart(last.slice(-count)) && piece.startsWith(last.slice(-count))) begun.add(count)
    for (let count = 1; count <= first.length; count++)
      if (isPart(first.slice(0, count)) && piece.endsWith(first.slice(0, count))) ending.add(piece.length - count)
  }

  /** Undefined for too many escapes. */
  private unescaped(text: string): string | undefined {
    let plain = ""
    let at = 0
    for (const match of text.matchAll(escapes)) {
      if (this.escapesLeft-- === 0) return undefined
      const [escape, json, hex, percent, entity, decimal] = match
      const digits = json ?? hex ?? percent ?? entity
      const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16)
      plain += text.slice(at, match.index) + (code <= 0x10ffff ? String.fromCodePoint(code) : " ")
      at = match.index + escape.length
    }
    return at === 0 ? text : plain + text.slice(at)
  }
}

/**
 * True for a piece that the upstream may have taken from the call: in any case, escape or separator, cut at either end, or
 * from several texts one after the other.
 */
export const isQuoted = (piece: string, call: QuotableCall): boolean => {
  const quotes = new Quotes(piece)
  const short = new Set<string>()
  let texts = 0
  let characters = 0
  for (const text of textsOf(call)) {
    characters += text.length
    if (characters > mostCharacters) return true
    if (text.length <= endLength) {
      if (short.has(text)) continue
      short.add(text)
    }
    if (++texts > mostTexts || quotes.areIn(text)) return true
  }
  return quotes.areRow()
}
