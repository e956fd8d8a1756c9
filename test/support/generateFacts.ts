// Writes src/domain/models/factLines.ts and the copy of the simulator from a file of researched facts about models.
// It must not state a fact of its own; corrections come from the house's rules and name them.
// Usage: npm run facts [-- path/to/models.json]
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** Leaves out what was not found: `null`, and objects that hold nothing else. */
const known = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
      if (value === null || value === undefined) return []
      if (!isFields(value)) return [[name, value]]
      const inner = known(value)
      return Object.keys(inner).length === 0 ? [] : [[name, inner]]
    })
  )

const operations: Readonly<Record<string, string>> = {
  generateContent: "generateContent",
  "generateContent with responseModalities TEXT, IMAGE": "generateContent",
  "generateContent with responseModalities AUDIO": "generateContent",
  "rawPredict, streamRawPredict": "rawPredict",
  "endpoints/openapi/chat/completions": "openapi",
  predict: "predict",
  "google batchEmbedContents; vertex-ai embedContent, 1 input": "embedContent",
  "google batchEmbedContents; vertex-ai predict, 1 input": "predict",
  "predict, 250 inputs": "predict",
  "predict, 1 input": "predict",
  "predict / batchEmbedContents": "predict",
  "Live API (WebSocket) only": "live",
  "speech to text": "transcribe",
  "Interactions API only": "interactions",
  "decisions operation": "decisions"
}

/** Inputs that one call on Vertex AI embeds. */
const inputsPerCall = (model: Fields): number | undefined => {
  if (model["family"] !== "embedding") return undefined
  return String(model["operation"]).endsWith(", 1 input") ? 1 : 250
}

/** Only four models refuse a forced tool; they take the native format. An organisation's policy decides for the others (M-421, M-422). */
const structuredOutput = (model: Fields): "native" | "tool" | undefined => {
  if (model["family"] !== "claude") return undefined
  return model["forced_tool_choice"] === false ? "native" : "tool"
}

/**
 * Publishers whose models want the reasoning of earlier turns back, by their own pages on tools with thinking; Qwen's
 * wants it left out (W29).
 */
const keepingReasoning = ["deepseek-ai/", "minimax/", "moonshotai/", "openai/gpt-oss", "zai-org/"]
const keepsReasoning = ({ family, id }: Fields): boolean | undefined =>
  family === "open" ? keepingReasoning.some((start) => String(id).startsWith(start)) : undefined

/** The moving names take the strictest of what they may stand for (M-111). */
const strictestAlias = (model: Fields): Fields =>
  model["generation"] === "alias"
    ? {
        allows_prefill: false,
        sampling: { refused: fieldsOf(model["sampling"])["refused"], ignored: ["temperature", "top_p", "top_k"] }
      }
    : {}

const kept: ReadonlyArray<string> = (
  "family generation input output providers locations allows_prefill tools_with_json builtin_with_functions " +
  "forced_tool_choice forced_tool_choice_with_thinking candidate_count_max requires_signatures effort default_effort " +
  "stage release shutdown successor routed context max_output"
).split(" ")

/** One record with the fields that the product reads. */
const recordOf = (model: Fields): Fields => {
  const operation = operations[String(model["operation"])]
  if (operation === undefined)
    throw new Error(`${String(model["id"])}: unknown operation ${String(model["operation"])}`)
  const thinking = fieldsOf(model["thinking"])
  const { note: _, ...sampling } = fieldsOf(model["sampling"])
  const caching = fieldsOf(model["caching"])
  const { note: __, ...longContext } = fieldsOf(fieldsOf(model["price"])["long_context"])
  const decode = fieldsOf(model["long_decode"])
  return known({
    id: model["id"],
    ...Object.fromEntries(kept.map((name) => [name, model[name]])),
    operation,
    inputs_per_call: inputsPerCall(model),
    sampling,
    thinking: {
      control: thinking["control"],
      levels: thinking["levels"],
      default: thinking["default"],
      can_disable: thinking["can_disable"],
      budget_min: thinking["budget_min"],
      budget_max: thinking["budget_max"],
      off_value: thinking["off_value"],
      off_at_most: thinking["disable_limit"] === null || thinking["disable_limit"] === undefined ? undefined : "high"
    },
    caching: {
      implicit: caching["implicit"],
      explicit: caching["explicit"],
      min_tokens: caching["implicit_min_tokens"] ?? caching["min_tokens"]
    },
    long_decode: { stream: decode["per_request_stream"], unary: decode["per_request_unary"] },
    structured_output: structuredOutput(model),
    keeps_reasoning: keepsReasoning(model),
    price: { ...fieldsOf(model["price"]), long_context: longContext },
    ...strictestAlias(model)
  })
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** What turns `from` into `to` when it is merged over it: changed fields, and `null` for those that go. */
const difference = (from: Fields, to: Fields): Fields =>
  Object.fromEntries(
    [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap(
      (name): ReadonlyArray<readonly [string, unknown]> => {
        const [before, after] = [from[name], to[name]]
        if (same(before, after)) return []
        if (after === undefined) return [[name, null]]
        return [[name, isFields(before) && isFields(after) ? difference(before, after) : after]]
      }
    )
  )

/** The shortest line that gives the record: whole, or as a change of an earlier one. */
const lineOf = (record: Fields, earlier: ReadonlyArray<Fields>): string =>
  earlier
    .map((base) =>
      JSON.stringify({ id: record["id"], inherits: base["id"], ...difference({ ...base, id: record["id"] }, record) })
    )
    .concat(JSON.stringify(record))
    .reduce((best, line) => (line.length < best.length ? line : best))

const escaped = (line: string): string => line.replace(/[\\`$]/g, "\\$&")

const factLines = (source: Fields): string => {
  const models: ReadonlyArray<unknown> = Array.isArray(source["models"]) ? source["models"] : []
  const records = models.map((model) => recordOf(fieldsOf(model)))
  const lines = records.map((record, at) => lineOf(record, records.slice(0, at)))
  return [
    "// Facts about every known model, one JSON object a line; most are changes of the record that they inherit.",
    "// It must not be edited by hand, nor read by any file but modelTable.ts: `npm run facts` writes it.",
    `export const factsAsOf = ${JSON.stringify(fieldsOf(source["about"])["as_of"])}`,
    "",
    `export const factLines = \`\n${lines.map((line) => `${escaped(line)}\n`).join("")}\``,
    ""
  ].join("\n")
}

export const factsFile = (text: string): string => factLines(fieldsOf(JSON.parse(text)))

export const factsTarget = "src/domain/models/factLines.ts"

const copied: ReadonlyArray<string> = (
  "family generation stage shutdown routed providers locations operation output context max_output allows_prefill " +
  "tools_with_json builtin_with_functions forced_tool_choice candidate_count_max requires_signatures refused thinking " +
  "effort structured_output explicit_caching"
).split(" ")

/** Open models are refused by the server that runs them, not by these facts. */
const openCopied: ReadonlyArray<string> = ["family", "generation", "shutdown", "providers", "operation"]

/** The facts by which the simulator refuses, in the words of the source; ids of equal facts share a line (M-1003). */
export const copyFile = (text: string): string => {
  const source = fieldsOf(JSON.parse(text))
  const models: ReadonlyArray<unknown> = Array.isArray(source["models"]) ? source["models"] : []
  const idsOf = new Map<string, ReadonlyArray<string>>()
  for (const model of models.map(fieldsOf)) {
    const { shown_by: _, default: __, ...thinking } = fieldsOf(model["thinking"])
    const refused = fieldsOf(model["sampling"])["refused"]
    const names = model["family"] === "open" ? openCopied : copied
    const whole: Fields = { ...model, refused, thinking, explicit_caching: fieldsOf(model["caching"])["explicit"] }
    const facts = JSON.stringify(known(Object.fromEntries(names.map((name) => [name, whole[name]]))))
    idsOf.set(facts, [...(idsOf.get(facts) ?? []), String(model["id"])])
  }
  return [
    "// Facts about the models that the simulator serves or refuses: ids, a tab, and what they have in common.",
    "// It must not be edited by hand, nor read by any file but factRows.ts: `npm run facts` writes it.",
    `export const factDay = ${JSON.stringify(fieldsOf(source["about"])["as_of"])}`,
    "",
    "export const factText = `",
    ...[...idsOf].map(([facts, ids]) => escaped(`${ids.join(" ")}\t${facts}`)),
    "`",
    ""
  ].join("\n")
}

export const copyTarget = "src/demo/google/shared/factText.ts"

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(import.meta.dirname, "../..")
  const from = process.argv[2] ?? join(root, "../shared/specs/models.json")
  const text = readFileSync(from, "utf8")
  writeFileSync(join(root, factsTarget), factsFile(text))
  writeFileSync(join(root, copyTarget), copyFile(text))
}
