// Compiles the templates of all prompts and resolves their partials.
// It must not know where prompts are stored or how a prompt is requested.
import * as Result from "effect/Result"
import { type FindVersion, type Prompt, type PromptContent, promptFinder } from "../domain/Prompt.ts"
import { unreadName } from "../domain/text/nearest.ts"
import { compileTemplate, type Template, type TemplateFault, type TemplateLimits } from "./renderTemplate.ts"

/** One compiled version of a prompt. */
export interface ReadyPrompt {
  /** May start with `@slug/`. */
  readonly model: string
  /** The messages and the other parameters. */
  readonly template: Template
}

/** A template fault with the id and version of its prompt. */
export interface PromptFault extends TemplateFault {
  readonly id: string
  readonly version: number
}

export type CompiledPrompts = {
  readonly prompts: ReadonlyMap<PromptContent, ReadyPrompt>
  readonly faults: ReadonlyArray<PromptFault>
}

/** A prompt of a single text message may also be used as a partial. */
const textOf = (content: PromptContent): string | undefined => {
  if (content._tag === "Partial") return content.text
  const [only] = content.messages
  const text = content.messages.length === 1 ? only?.["content"] : undefined
  return typeof text === "string" ? text : undefined
}

/** Compiles every version of every prompt and collects all template faults. `others` may be included as partials too. */
export const compilePrompts = (
  declared: ReadonlyArray<Prompt>,
  limits: TemplateLimits,
  others: FindVersion = () => undefined
): CompiledPrompts => {
  const own = promptFinder(declared)
  const find: FindVersion = (reference) => own(reference) ?? others(reference)
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
