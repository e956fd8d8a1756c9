// Items of what the provider ran itself: pictures, searches, code.
// It must not know chunks. Rules: R522, R524, R525.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { ContentPart } from "../../../wire/openai/Extensions.ts"
import type {
  CodeInterpreterItem,
  CodeOutput,
  OutputItem,
  WebSearchItem
} from "../../../wire/openai/responses/Items.ts"
import { grow, itemsOf, withLast } from "../../../wire/grownList.ts"
import { numberOf } from "../ids.ts"
import { announce, type CodeRun, done, next, place, type Work } from "./work.ts"

type ImagePart = ContentPart & { readonly type: "image" }

export const addImage = (work: Work, { image, thought_signature: signature }: ImagePart): void => {
  const { id, outputIndex } = place(work, "ig")
  const at = { item_id: id, output_index: outputIndex }
  announce(work, outputIndex, { id, type: "image_generation_call", status: "in_progress", result: null })
  work.events.push(
    { type: "response.image_generation_call.in_progress", sequence_number: next(work), ...at },
    { type: "response.image_generation_call.generating", sequence_number: next(work), ...at },
    { type: "response.image_generation_call.completed", sequence_number: next(work), ...at }
  )
  if (signature !== undefined) work.imageSignatures = grow(work.imageSignatures, { id, s: signature })
  done(work, outputIndex, { id, type: "image_generation_call", status: "completed", result: image.b64_json })
}

/** A picture that code made is one of its outputs. */
export const addCodeImage = (work: Work, { image }: ImagePart): void =>
  growCode(work, (run) => ({
    ...run,
    outputs: grow<CodeOutput>(run.outputs, { type: "image", url: `data:${image.mime_type};base64,${image.b64_json}` })
  }))

const growCode = (work: Work, change: (run: CodeRun) => CodeRun): void => {
  if (work.code !== undefined) work.code = withLast(work.code, change(work.code.last))
}

const textIn = (holder: JsonObject, field: string): string => {
  const value = holder[field]
  return typeof value === "string" ? value : ""
}

const noRun: CodeRun = { code: "", outputs: undefined, hasFailed: false, hasResult: false, parts: undefined }

/** A provider's own part: code and its result become an item, everything else is only carried. */
export const addProviderPart = (work: Work, given: { readonly provider: string; readonly part: unknown }): void => {
  const { provider } = given
  const part: Json = isJsonObject(given.part) ? given.part : {}
  const { codeExecutionResult: result, executableCode: code } = part
  if (isJsonObject(code)) {
    work.code = grow(work.code, { ...noRun, code: textIn(code, "code"), parts: grow(undefined, { provider, part }) })
  } else if (isJsonObject(result)) {
    if (work.code?.last.hasResult !== false) work.code = grow(work.code, noRun)
    growCode(work, (run) => withResult(run, result, { provider, part }))
  } else {
    const at = work.open?.id ?? work.lastClosed?.item.id ?? ""
    work.parts = grow(work.parts, { at, part: { provider, part } })
  }
}

const withResult = (
  run: CodeRun,
  result: JsonObject,
  part: { readonly provider: string; readonly part: JsonObject }
): CodeRun => {
  return {
    ...run,
    outputs: grow<CodeOutput>(run.outputs, { type: "logs", logs: textIn(result, "output") }),
    hasFailed: result["outcome"] !== "OUTCOME_OK",
    hasResult: true,
    parts: grow(run.parts, part)
  }
}

/** An item that is shown with less than is kept of it. */
const doneInPart = (work: Work, outputIndex: number, shown: OutputItem, whole: OutputItem): void => {
  work.whole = grow(work.whole, whole)
  done(work, outputIndex, shown)
}

export const giveCode = (work: Work): void => {
  for (const { code, hasFailed, outputs, parts } of itemsOf(work.code)) {
    const { id, outputIndex } = place(work, "ci")
    const at = { item_id: id, output_index: outputIndex }
    const item = {
      id,
      type: "code_interpreter_call",
      container_id: `cntr_${numberOf(work.facts.id)}`,
      outputs: null
    } as const
    announce(work, outputIndex, { ...item, status: "in_progress", code: "" })
    work.events.push(
      { type: "response.code_interpreter_call.in_progress", sequence_number: next(work), ...at },
      { type: "response.code_interpreter_call_code.delta", sequence_number: next(work), ...at, delta: code },
      { type: "response.code_interpreter_call_code.done", sequence_number: next(work), ...at, code },
      { type: "response.code_interpreter_call.interpreting", sequence_number: next(work), ...at },
      { type: "response.code_interpreter_call.completed", sequence_number: next(work), ...at }
    )
    for (const part of itemsOf(parts)) work.parts = grow(work.parts, { at: id, part })
    const status = hasFailed ? "failed" : "completed"
    const whole: CodeInterpreterItem = { ...item, status, code, outputs: itemsOf(outputs) }
    if (work.facts.plan.shown.outputs) done(work, outputIndex, whole)
    else doneInPart(work, outputIndex, { ...whole, outputs: null }, whole)
  }
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const sourcesOf = (grounding: JsonObject): ReadonlyArray<{ readonly type: "url"; readonly url: string }> =>
  list(grounding["groundingChunks"]).flatMap((chunk) => {
    const web = isJsonObject(chunk) ? chunk["web"] : undefined
    const url = isJsonObject(web) ? web["uri"] : undefined
    return typeof url === "string" ? [{ type: "url" as const, url }] : []
  })

export const giveSearch = (work: Work): void => {
  const { grounding } = work
  const queries = list(grounding?.["webSearchQueries"]).filter((query) => typeof query === "string")
  const [query] = queries
  if (grounding === undefined || query === undefined) return
  const { id, outputIndex } = place(work, "ws")
  const at = { item_id: id, output_index: outputIndex }
  const item: WebSearchItem = {
    id,
    type: "web_search_call",
    status: "in_progress",
    action: { type: "search", query, queries }
  }
  announce(work, outputIndex, item)
  work.events.push(
    { type: "response.web_search_call.in_progress", sequence_number: next(work), ...at },
    { type: "response.web_search_call.searching", sequence_number: next(work), ...at },
    { type: "response.web_search_call.completed", sequence_number: next(work), ...at }
  )
  const shown: WebSearchItem = { ...item, status: "completed" }
  const whole: WebSearchItem = { ...shown, action: { ...item.action, sources: sourcesOf(grounding) } }
  if (work.facts.plan.shown.sources) done(work, outputIndex, whole)
  else doneInPart(work, outputIndex, shown, whole)
}
