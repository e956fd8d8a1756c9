// Reads the lessons of an upstream's refusal from its own words: one row for each known refusal.
// Must not depend on how a call is made. Wordings change, so that patterns are short pieces and ignore case.
import { isDroppable } from "./extraInputs.ts"
import type { HealRow, Lesson } from "./lessons.ts"
import { isQuoted, type QuotableCall } from "./quotes.ts"

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
