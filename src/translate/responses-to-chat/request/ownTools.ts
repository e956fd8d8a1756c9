// Tools and tool choices that other dialects spell, in the words of the Responses API.
// It must not know which tools are served. Rules: W4, W21.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { chatToolChoice, chatTools } from "../../shared/chat-request/toolSpellings.ts"

const flatFunction = ({ response_schema: output, ...declared }: JsonObject): JsonObject => ({
  type: "function",
  ...declared,
  ...(output === undefined ? {} : { output_schema: output })
})

/** OpenAI's search, dated forms included. */
export const isSearch = (type: Json | undefined): boolean =>
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
