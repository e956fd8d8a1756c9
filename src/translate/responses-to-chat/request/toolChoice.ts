// The tool choice of a request, and which tools are left to offer after it.
// It must not know how a tool was declared. Rules: R324, R325.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { invalid } from "../../shared/fault.ts"
import { ownChoice } from "./ownTools.ts"
import { type HostedTool, hostedKind, isNotOffered, joinedName, type ReadTools, unsupportedTool } from "./tools.ts"

type Read<A> = Result.Result<A, RequestFault>

export interface OfferedTools {
  readonly tools: ReadTools["tools"]
  /** Pictures may be made. */
  readonly images: boolean
  readonly choice: Json | undefined
  /** The choice that cannot be obeyed exactly. */
  readonly ignored: ReadonlyArray<string>
}

/** A tool that is listed or chosen: a function of the chat by name, or a hosted one. */
type Meant =
  | { readonly _tag: "Function"; readonly name: string }
  | { readonly _tag: "Hosted"; readonly kind: HostedTool }

const words: ReadonlySet<unknown> = new Set(["auto", "none", "required"])

export const offeredTools = (asked: unknown, read: ReadTools): Read<OfferedTools> => {
  const given = ownChoice(asked)
  const all: OfferedTools = { tools: read.tools, images: read.image !== undefined, choice: undefined, ignored: [] }
  if (given === undefined || given === null) return Result.succeed(all)
  if (words.has(given)) {
    // A picture is no call: nothing can be required of a request that offers nothing else.
    const idle = given === "required" && read.tools.length === 0 && read.image !== undefined
    return Result.succeed(idle ? { ...all, ignored: ["tool_choice"] } : { ...all, choice: String(given) })
  }
  if (!isJsonObject(given))
    return invalid("tool_choice", "invalid_value", 'tool_choice must be "auto", "none", "required" or an object.')
  const { type } = given
  if (type === "allowed_tools") return allowed(given, read)
  if (typeof type === "string" && isNotOffered(type)) return unsupportedTool("tool_choice.type", type)
  const meant = meantBy(given, read)
  if (meant === undefined && type === "image_generation")
    return invalid(
      "tool_choice",
      "unsupported_tool",
      "image_generation works with Gemini's image models, for example gemini-2.5-flash-image and gemini-3-pro-image-preview."
    )
  if (meant === undefined && typeof type === "string" && !namesFunction(type) && hostedKind(type) === undefined)
    return unsupportedTool("tool_choice.type", type)
  if (meant === undefined)
    return invalid(
      namesFunction(type) ? "tool_choice.name" : "tool_choice",
      "invalid_value",
      "tool_choice names a tool that the request does not declare."
    )
  return Result.succeed(
    meant._tag === "Function"
      ? { ...all, choice: { type: "function", function: { name: meant.name } } }
      : { ...only(read, [meant]), choice: undefined, ignored: ["tool_choice"] }
  )
}

const namesFunction = (type: Json | undefined): boolean => type === "function" || type === "custom"

const meantBy = (chosen: JsonObject, { image, names, tools }: ReadTools): Meant | undefined => {
  const { name, namespace, type } = chosen
  if (namesFunction(type) && typeof name === "string") {
    const full = typeof namespace === "string" ? joinedName(namespace, name) : name
    if (tools.some((tool) => tool.name === full)) return { _tag: "Function", name: full }
    const inside = [...names].filter(([, own]) => own.name === name)
    const found = inside[0]?.[0]
    return inside.length === 1 && found !== undefined ? { _tag: "Function", name: found } : undefined
  }
  const kind = hostedKind(type)
  if (kind === undefined) return undefined
  const isThere = kind === "image_generation" ? image !== undefined : tools.some(({ hosted }) => hosted === kind)
  return isThere ? { _tag: "Hosted", kind } : undefined
}

const isLeft = (type: string, { image }: ReadTools): boolean =>
  isNotOffered(type) || (type === "image_generation" && image === undefined)

const only = (read: ReadTools, meant: ReadonlyArray<Meant>): Pick<OfferedTools, "tools" | "images"> => {
  const kinds = new Set(meant.flatMap((one) => (one._tag === "Hosted" ? [one.kind] : [])))
  const functions = new Set(meant.flatMap((one) => (one._tag === "Function" ? [one.name] : [])))
  return {
    tools: read.tools.filter(({ hosted, name }) =>
      hosted === undefined ? functions.has(name ?? "") : kinds.has(hosted)
    ),
    images: read.image !== undefined && kinds.has("image_generation")
  }
}

const allowed = (choice: JsonObject, read: ReadTools): Read<OfferedTools> => {
  const { mode = "auto", tools } = choice
  if (mode !== "auto" && mode !== "required")
    return invalid("tool_choice.mode", "invalid_value", "tool_choice.mode must be auto or required.")
  if (!Array.isArray(tools) || tools.length === 0)
    return invalid("tool_choice.tools", "invalid_value", "tool_choice.tools must be an array of at least one tool.")
  const meant: Array<Meant> = []
  for (const [index, tool] of tools.entries()) {
    // A tool that was left out of the request is left out of the list.
    if (isJsonObject(tool) && typeof tool["type"] === "string" && isLeft(tool["type"], read)) continue
    const own = ownChoice(tool)
    const one = isJsonObject(own) ? meantBy(own, read) : undefined
    if (one === undefined)
      return invalid(
        `tool_choice.tools[${index}]`,
        "invalid_value",
        "tool_choice.tools names a tool that the request does not declare."
      )
    meant.push(one)
  }
  const left = only(read, meant)
  const functions = meant.flatMap((one) => (one._tag === "Function" ? [one.name] : []))
  if (functions.length === 0) return Result.succeed({ ...left, choice: undefined, ignored: ["tool_choice"] })
  // The functions that are not listed stay declared: the chat's own choice keeps them from being called.
  return Result.succeed({
    tools: read.tools.filter((tool) => tool.hosted === undefined || left.tools.includes(tool)),
    images: left.images,
    choice: {
      type: "allowed_tools",
      allowed_tools: { mode, tools: functions.map((name) => ({ type: "function", function: { name } })) }
    },
    ignored: []
  })
}
