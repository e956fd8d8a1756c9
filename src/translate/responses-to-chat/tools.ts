// The tools of a request as tools of the chat: functions and their stand-ins flattened, hosted tools by their equivalents.
// It must not know which provider serves them. Rules: R311-R323, W4, W21.
import * as Result from "effect/Result"
import { builtInModels } from "../../domain/models/modelTable.ts"
import type { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { neededTools } from "../shared/chat-request/readTools.ts"
import { chatToolChoice, chatTools } from "../shared/chat-request/spellings.ts"
import { customFunction } from "../shared/chat-request/toolCalls.ts"
import { nearestRatio, readSize, resolutionOf } from "../shared/images.ts"
import type { ToolName } from "./facts.ts"

/** `google`: one of Google's own, by its name in a chat. */
export type HostedTool = "web_search" | "code_interpreter" | "image_generation" | "google"

/** A tool of the chat and where it stood. */
interface ChatTool {
  readonly path: string
  readonly tool: JsonObject
  /** The name a call of it has; undefined for a hosted tool. */
  readonly name: string | undefined
  readonly hosted: HostedTool | undefined
}

export interface ReadTools {
  readonly tools: ReadonlyArray<ChatTool>
  readonly names: ReadonlyMap<string, ToolName>
  readonly ignored: ReadonlyArray<string>
  /** Pictures are asked for, in this form. */
  readonly image: { readonly path: string; readonly config: JsonObject } | undefined
}

interface Work {
  readonly reader: Reader<never>
  readonly model: string
  readonly tools: Array<ChatTool>
  readonly names: Map<string, ToolName>
  readonly taken: Set<string>
  readonly ignored: Array<string>
  image: ReadTools["image"]
}

/** By type, dated forms included. */
export const hostedKind = (type: Json | undefined): HostedTool | undefined => {
  if (typeof type !== "string") return undefined
  if (isSearch(type)) return "web_search"
  return type === "code_interpreter" || type === "image_generation" ? type : undefined
}

/** Agents add them unasked, so they are left out and named (W31). */
const leftOut: ReadonlySet<string> = new Set([
  "computer_use_preview",
  "computer_use",
  "computer",
  "local_shell",
  "shell",
  "apply_patch",
  "tool_search",
  "programmatic_tool_calling"
])

/** Tools of Google's that OpenAI has not; a pair leaves out those that its model does not run. */
const googleTools: ReadonlySet<Json | undefined> = new Set([
  "url_context",
  "google_maps",
  "google_search_retrieval",
  "enterprise_web_search",
  "file_search",
  "computer_use"
])

/** In Google's own form: the settings under the name of the tool. */
const isGoogleTool = (tool: JsonObject): boolean => {
  const { type } = tool
  return typeof type === "string" && googleTools.has(type) && isJsonObject(tool[type])
}

export const isNotOffered = (type: string): boolean => leftOut.has(type) || neededTools.has(type)

export const unsupportedTool = (reader: Reader<never>, path: string, type: string): undefined =>
  reader.invalid(
    path,
    "unsupported_tool",
    type.startsWith("computer")
      ? `The tool ${type} is not served here. Declare a function named computer_use: its calls carry the model's own actions.`
      : `The tool ${type} is not served here. Use function, custom, namespace, web_search, code_interpreter or image_generation.`
  )

/** One separator, also after a namespace that ends in it. */
export const joinedName = (namespace: string, name: string): string =>
  namespace.endsWith("__") ? `${namespace}${name}` : `${namespace}__${name}`

/** A tool of the request and its place; later ones may come in items of the input. */
export interface GivenTool {
  readonly tool: unknown
  readonly path: string
}

export const readResponsesTools = (
  reader: Reader<never>,
  given: ReadonlyArray<GivenTool>,
  model: string
): ReadTools => {
  const work: Work = { reader, model, tools: [], names: new Map(), taken: new Set(), ignored: [], image: undefined }
  for (const { path, tool } of given) {
    if (!isJsonObject(tool)) reader.invalid(path, "invalid_type", "A tool must be an object.")
    else for (const spelled of ownTools(tool)) readTool(work, spelled, path)
  }
  const { ignored, image, names, tools } = work
  return { tools, names, ignored, image }
}

const readTool = (work: Work, tool: JsonObject, path: string): void => {
  const { reader } = work
  const { type } = tool
  if (type === "function" || type === "custom") return addCallable(work, tool, path, undefined)
  if (type === "namespace") return addNamespace(work, tool, path)
  if (type !== undefined && type !== null && typeof type !== "string")
    return reader.invalid(`${path}.type`, "invalid_type", "The type of a tool must be a string.")
  if (isGoogleTool(tool)) {
    work.tools.push({ path, tool, name: undefined, hosted: "google" })
    return undefined
  }
  if (typeof type === "string" && neededTools.has(type)) return unsupportedTool(reader, `${path}.type`, type)
  switch (hostedKind(type)) {
    case "web_search":
      return addSearch(work, tool, path)
    case "code_interpreter":
      return addCode(work, tool, path)
    case "image_generation":
      return addImages(work, tool, path)
    default:
      // Agents add tools unasked, those of later days too (W5).
      work.ignored.push(path)
      return undefined
  }
}

interface Namespace {
  readonly name: string
  readonly description: string
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")

const joined = (...texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

const addNamespace = (work: Work, tool: JsonObject, path: string): void => {
  const { reader } = work
  const { name, tools } = tool
  if (typeof name !== "string" || name === "")
    return reader.invalid(`${path}.name`, "invalid_value", "A namespace needs a name.")
  if (!Array.isArray(tools))
    return reader.invalid(`${path}.tools`, "invalid_type", "A namespace holds an array of tools.")
  const namespace: Namespace = { name, description: textOf(tool["description"]) }
  for (const [index, member] of tools.entries()) {
    const at = `${path}.tools[${index}]`
    const [spelled] = isJsonObject(member) ? ownTools(member) : []
    if (spelled === undefined || (spelled["type"] !== "function" && spelled["type"] !== "custom"))
      reader.invalid(`${at}.type`, "invalid_value", "A namespace holds tools of the types function and custom.")
    else addCallable(work, spelled, at, namespace)
  }
}

/** A function, or the stand-in of a custom tool: one function of one text. */
const addCallable = (work: Work, tool: JsonObject, path: string, namespace: Namespace | undefined): void => {
  const { reader } = work
  const { name } = tool
  if (typeof name !== "string" || name === "")
    return reader.invalid(`${path}.name`, "invalid_value", "A tool needs a name.")
  const fullName = namespace === undefined ? name : joinedName(namespace.name, name)
  if (work.taken.has(fullName)) {
    // Tools that come with an item of the input may come with several.
    if (path.startsWith("input")) return undefined
    return reader.invalid(`${path}.name`, "invalid_value", `Two tools have the same name, ${fullName} in full.`)
  }
  work.taken.add(fullName)
  const isCustom = tool["type"] === "custom"
  const declared = isCustom ? customFunction(tool) : plainFunction(tool)
  const description = joined(namespace?.description ?? "", textOf(declared["description"]))
  work.tools.push({
    path,
    tool: {
      type: "function",
      function: { ...declared, name: fullName, ...(description === "" ? {} : { description }) }
    },
    name: fullName,
    hosted: undefined
  })
  if (isCustom || namespace !== undefined) work.names.set(fullName, { name, namespace: namespace?.name, isCustom })
}

const functionFields = [
  ["description", "description"],
  ["parameters", "parameters"],
  ["strict", "strict"],
  ["output_schema", "response_schema"]
] as const

const plainFunction = (tool: JsonObject): JsonObject =>
  Object.fromEntries(
    functionFields.flatMap(([from, to]) => {
      const value = tool[from] ?? undefined
      return value === undefined ? [] : [[to, value]]
    })
  )

/** The pair that serves it leaves it out where its model cannot search together with functions. */
const addSearch = (work: Work, tool: JsonObject, path: string): void => {
  if (!work.tools.some(({ hosted }) => hosted === "web_search"))
    work.tools.push({ path, tool: { type: "web_search", optional: true }, name: undefined, hosted: "web_search" })
  for (const [name, value] of Object.entries(tool))
    if (name !== "type" && name !== "name" && (value ?? undefined) !== undefined) work.ignored.push(`${path}.${name}`)
}

/** A pair that cannot serve it leaves it out and names it (W5). */
const addCode = (work: Work, tool: JsonObject, path: string): void => {
  const container = isJsonObject(tool["container"]) ? tool["container"] : {}
  const files = container["file_ids"]
  if (Array.isArray(files) && files.length > 0)
    return work.reader.invalid(
      `${path}.container.file_ids`,
      "unsupported_parameter",
      "Code runs without files here; send their content in a message."
    )
  if (!work.tools.some(({ hosted }) => hosted === "code_interpreter"))
    work.tools.push({
      path,
      tool: { type: "code_execution" },
      name: undefined,
      hosted: "code_interpreter"
    })
}

const drawsImages = (model: string): boolean => {
  const { family, output = [] } = builtInModels.find(model.slice(model.lastIndexOf("/") + 1)).record
  return family === "gemini" && output.includes("image")
}

const ratios = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"]

const addImages = (work: Work, tool: JsonObject, path: string): void => {
  if (!drawsImages(work.model)) {
    work.ignored.push(path)
    return
  }
  const asked = readSize(typeof tool["size"] === "string" ? tool["size"] : undefined)
  const size = Result.getOrElse(asked, ({ message }) => work.reader.invalid(`${path}.size`, "invalid_value", message))
  const ratio = size === undefined ? undefined : nearestRatio(size, ratios)
  const resolution = size === undefined ? undefined : resolutionOf(size)
  work.image = {
    path,
    config: {
      ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
      ...(resolution === undefined ? {} : { image_size: resolution })
    }
  }
  for (const [name, value] of Object.entries(tool))
    if (name !== "type" && name !== "size" && value !== null && value !== undefined && value !== "auto")
      work.ignored.push(`${path}.${name}`)
}

// Tools and tool choices that other dialects spell, in the words of the Responses API.

const flatFunction = ({ response_schema: output, ...declared }: JsonObject): JsonObject => ({
  type: "function",
  ...declared,
  ...(output === undefined ? {} : { output_schema: output })
})

/** OpenAI's search, dated forms included. */
const isSearch = (type: Json | undefined): boolean =>
  typeof type === "string" && /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/.test(type)

/** A search keeps its settings, which are named where they have no effect. */
const hostedTool = (tool: JsonObject): JsonObject => {
  const { type } = tool
  if (type === "code_execution") return { type: "code_interpreter", container: { type: "auto" } }
  if (type !== "google_search" && type !== "web_search") return tool
  const settings = tool[type]
  return { ...(isJsonObject(settings) ? settings : {}), type: "web_search" }
}

const ofChat = (tool: unknown): ReadonlyArray<JsonObject> => {
  if (!isJsonObject(tool)) return []
  const { function: declared } = tool
  return [isJsonObject(declared) ? flatFunction(declared) : hostedTool(tool)]
}

/** One tool may hold several; one that has no other spelling is the same object. */
export const ownTools = (tool: JsonObject): ReadonlyArray<JsonObject> => {
  const { custom, function: nested, type } = tool
  if (isJsonObject(nested) && (type === undefined || type === null || type === "function"))
    return [flatFunction(nested)]
  if (type === "custom" && isJsonObject(custom)) return [{ type, ...custom }]
  const isOwn = type === "function" || (type === "custom" && !isJsonObject(tool["input_schema"]))
  if (isOwn || type === "code_interpreter" || isSearch(type)) return [tool]
  return chatTools([tool])?.tools.flatMap((spelled) => ofChat(spelled.tool)) ?? [tool]
}

/** A choice that another dialect spells; any other is the same value. */
export const ownChoice = (given: unknown): unknown => {
  if (given === "any") return "required"
  if (!isJsonObject(given)) return given
  const choice = given["type"] === "allowed_tools" ? given : chatToolChoice(given)
  if (!isJsonObject(choice)) return choice
  const listed = choice["allowed_tools"]
  if (choice["type"] === "allowed_tools" && isJsonObject(listed)) return { type: "allowed_tools", ...listed }
  if (choice["type"] !== "function") return choice
  const named = choice["function"]
  return isJsonObject(named) ? { type: "function", name: named["name"], ...namespaceOf(given) } : choice
}

const namespaceOf = ({ namespace }: JsonObject): JsonObject => (namespace === undefined ? {} : { namespace })
