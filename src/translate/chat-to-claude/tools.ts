// Tools and tool choice as Claude takes them.
// It must not know where in the request they stood; it gets them read.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { invalid } from "../shared/fault.ts"
import {
  type AskedTool,
  checkToolChoice,
  type FunctionTool,
  namedIn,
  type ToolChoice
} from "../shared/chat-request/readTools.ts"
import type { ToolNames } from "../shared/chat-request/toolNames.ts"
import type { JsonOutput } from "./jsonOutput.ts"

export interface ClaudeTools {
  readonly tools?: ReadonlyArray<JsonObject>
  readonly tool_choice?: JsonObject
}

export interface ToolWish {
  readonly asked: ReadonlyArray<AskedTool>
  readonly choice: ToolChoice | undefined
  readonly output: JsonOutput | undefined
  /** False when calls must come one at a time. */
  readonly parallel: boolean
  /** Functions the history calls, as the upstream spells them. */
  readonly called: ReadonlyArray<string>
}

export interface ToolPlan {
  readonly body: ClaudeTools
  /** The model must call a tool, which budgets of thinking exclude. */
  readonly forced: boolean
  /** Parameters that change nothing. */
  readonly unused: ReadonlyArray<string>
}

export const claudeTools = (wish: ToolWish, names: ToolNames): Result.Result<ToolPlan, RequestFault> => {
  const { choice, called } = wish
  // Web search options are one of the parameters left out; only what stands among the tools asks for a tool.
  const asked = wish.asked.filter((tool) => tool.path !== "web_search_options")
  const functions: Array<FunctionTool> = []
  for (const tool of asked) {
    if (tool._tag !== "Function") return unsupported(tool)
    functions.push(tool)
  }
  return Result.map(checkToolChoice(choice, functions), () => {
    const wanted = choice?._tag === "Allowed" ? namedIn(choice).map(({ name }) => name) : undefined
    const declared = functions.filter((tool) => wanted === undefined || wanted.includes(tool.name))
    const output = demandsCall(choice) ? undefined : wish.output
    const tools = [
      ...declared.map((tool) => declaration(tool, names)),
      ...(output === undefined
        ? []
        : [{ name: output.name, description: output.description, input_schema: output.schema }])
    ]
    // Without a declaration the upstream takes no calls in the history either.
    const body: ClaudeTools =
      tools.length > 0
        ? withChoice(tools, chosen(choice, output, declared.length > 0, names), wish.parallel)
        : called.length > 0
          ? { tools: called.map((name) => ({ name, input_schema: { type: "object" } })), tool_choice: { type: "none" } }
          : {}
    return { body, forced: isForced(body.tool_choice), unused: unusedOf(wish, body, output) }
  })
}

const unsupported = (tool: AskedTool): Result.Result<never, RequestFault> =>
  invalid(
    tool.path,
    "unsupported_tool",
    `The tool ${tool.name} is one of Gemini's. Claude's own server tools work on /v1/messages.`
  )

const demandsCall = (choice: ToolChoice | undefined): boolean =>
  choice?._tag === "Required" || choice?._tag === "Named" || (choice?._tag === "Allowed" && choice.required)

/** The schema goes as the client wrote it; only the type of its root is demanded upstream. */
const declaration = ({ name, description, parameters, cacheControl }: FunctionTool, names: ToolNames): JsonObject => ({
  name: names.mangle(name),
  ...(description === "" ? {} : { description }),
  input_schema: { type: "object", ...parameters },
  ...(cacheControl === undefined ? {} : { cache_control: cacheControl })
})

/** The answer is forced out of the model as a call: of our tool alone, or of any when the client has tools, too. */
const chosen = (
  choice: ToolChoice | undefined,
  output: JsonOutput | undefined,
  hasFunctions: boolean,
  names: ToolNames
): JsonObject | undefined => {
  if (output !== undefined) {
    return hasFunctions && choice?._tag !== "None" ? { type: "any" } : { type: "tool", name: output.name }
  }
  switch (choice?._tag) {
    case undefined:
      return undefined
    case "Auto":
      return { type: "auto" }
    case "None":
      return { type: "none" }
    case "Required":
      return { type: "any" }
    case "Named":
      return { type: "tool", name: names.mangle(choice.name) }
    case "Allowed":
      return { type: choice.required ? "any" : "auto" }
  }
}

const withChoice = (
  tools: ReadonlyArray<JsonObject>,
  choice: JsonObject | undefined,
  parallel: boolean
): ClaudeTools => {
  if (parallel || choice?.["type"] === "none") return choice === undefined ? { tools } : { tools, tool_choice: choice }
  return { tools, tool_choice: { type: "auto", ...choice, disable_parallel_tool_use: true } }
}

const isForced = (choice: JsonObject | undefined): boolean => choice?.["type"] === "any" || choice?.["type"] === "tool"

const unusedOf = (
  wish: ToolWish,
  { tool_choice: choice }: ClaudeTools,
  output: JsonOutput | undefined
): ReadonlyArray<string> => [
  ...(wish.parallel || choice?.["disable_parallel_tool_use"] === true ? [] : ["parallel_tool_calls"]),
  ...(wish.output !== undefined && output === undefined ? ["response_format"] : [])
]
