// Calls of custom tools in an answer: the calls of their stand-ins come back with the plain text that they carry.
// Must not depend on how a tool is declared upstream. Rules: R313, W21.
import { hasKeys } from "../../../domain/text/json.ts"
import type { ChatChunk, ChatCompletion, ToolCallDelta } from "../../../wire/openai/ChatReply.ts"
import { customInput } from "../chat-request/customTools.ts"

/** A completion with the calls of these tools in their own form. */
export const customCompletion = (completion: ChatCompletion, customs: ReadonlySet<string> | undefined): object => {
  if (customs === undefined || customs.size === 0) return completion
  return {
    ...completion,
    choices: completion.choices.map((choice) => {
      const { tool_calls: calls } = choice.message
      if (calls === undefined) return choice
      const shown = calls.map(({ function: called, ...call }) =>
        customs.has(called.name)
          ? { ...call, type: "custom", custom: { name: called.name, input: customInput(called.arguments) } }
          : { ...call, function: called }
      )
      return { ...choice, message: { ...choice.message, tool_calls: shown } }
    })
  }
}

/** A call while its arguments come: they are JSON, so that its text is known when they are whole. */
interface OpenCall {
  readonly index: number
  text: string
}

/** The calls of a delta as they are shown. */
type ShownCalls = ReadonlyArray<object>

/** Holds back the arguments of custom calls until each call has ended. */
export class CustomCalls {
  private readonly names: ReadonlySet<string>
  /** By choice. */
  private readonly open = new Map<number, OpenCall>()

  constructor(names: ReadonlySet<string>) {
    this.names = names
  }

  /** The chunk with custom calls in their own form; undefined when all of it is held back. */
  shown(chunk: ChatChunk): object | undefined {
    const choices = chunk.choices.flatMap((choice) => {
      const { tool_calls: given, ...delta } = choice.delta
      const calls = (given ?? []).flatMap((call) => this.call(choice.index, call))
      const all = choice.finish_reason === null ? calls : [...calls, ...this.ended(choice.index)]
      if (given !== undefined && all.length === 0 && choice.finish_reason === null && !hasKeys(delta)) return []
      return [{ ...choice, delta: all.length === 0 ? delta : { ...delta, tool_calls: all } }]
    })
    return choices.length === 0 && chunk.choices.length > 0 ? undefined : { ...chunk, choices }
  }

  private call(choice: number, call: ToolCallDelta): ShownCalls {
    const { function: called, ...rest } = call
    const { arguments: text = "", name } = called
    const open = this.open.get(choice)
    if (open?.index === call.index) {
      open.text += text
      return []
    }
    const before = this.ended(choice)
    if (name === undefined || !this.names.has(name)) return [...before, call]
    this.open.set(choice, { index: call.index, text })
    return [...before, { ...rest, type: "custom", custom: { name, input: "" } }]
  }

  private ended(choice: number): ShownCalls {
    const open = this.open.get(choice)
    if (open === undefined) return []
    this.open.delete(choice)
    return [{ index: open.index, custom: { input: customInput(open.text) } }]
  }
}
