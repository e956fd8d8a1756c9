// Prompts made ready to be filled: their templates compiled, their partials put in.
// It must not know where prompts are kept or how one is asked for.
import * as Result from "effect/Result"
import { type Prompt, type PromptContent, promptFinder } from "../domain/Prompt.ts"
import { unreadName } from "../domain/text/nearest.ts"
import { compileTemplate, type Template, type TemplateFault, type TemplateLimits } from "./renderTemplate.ts"

/** A version of a prompt as a request asks for it. */
export interface ReadyPrompt {
  /** May carry `@slug/`. */
  readonly model: string
  /** Messages, and parameters beside them. */
  readonly template: Template
}

/** A template that cannot be used, and in which version of which prompt it stands. */
export interface PromptFault extends TemplateFault {
  readonly id: string
  readonly version: number
}

export type Ready = {
  readonly prompts: ReadonlyMap<PromptContent, ReadyPrompt>
  readonly faults: ReadonlyArray<PromptFault>
}

/** A prompt of one message of text is a partial as well. */
const textOf = (content: PromptContent): string | undefined => {
  if (content._tag === "Partial") return content.text
  const [only] = content.messages
  const text = content.messages.length === 1 ? only?.["content"] : undefined
  return typeof text === "string" ? text : undefined
}

/** Every version of every prompt made ready, and all that is wrong with their templates. */
export const readyPrompts = (declared: ReadonlyArray<Prompt>, limits: TemplateLimits): Ready => {
  const find = promptFinder(declared)
  const partials = (reference: string): Result.Result<string, string> => {
    const found = find(reference)
    if (found === undefined && find(unreadName) !== undefined) return Result.succeed("")
    const text = found === undefined ? undefined : textOf(found.content)
    if (text !== undefined) return Result.succeed(text)
    return Result.fail(
      found === undefined
        ? `there is no prompt or partial "${reference}"`
        : `"${reference}" is more than one text, so no other prompt can hold it`
    )
  }
  const prompts = new Map<PromptContent, ReadyPrompt>()
  const faults: Array<PromptFault> = []
  for (const { id, versions } of declared) {
    for (const [version, content] of versions) {
      const value =
        content._tag === "Chat" ? { messages: content.messages, ...content.parameters } : { text: content.text }
      const compiled = compileTemplate(value, partials, limits)
      for (const fault of compiled.faults) faults.push({ ...fault, id, version })
      if (content._tag === "Chat") prompts.set(content, { model: content.model, template: compiled.template })
    }
  }
  return { prompts, faults }
}
