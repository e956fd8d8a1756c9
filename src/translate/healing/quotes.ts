// Finds out whether a piece of a refusal may be a quote of the call that was refused: its words are then no evidence.
// Must not know which refusals are known, or what they teach.
import { isJsonObject, type Json } from "../../domain/text/json.ts"

/** What an upstream can quote: the body as it was sent, the headers and the model. */
export interface QuotableCall {
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
