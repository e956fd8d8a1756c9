// The prompts on offer, each made ready to be filled.
// It must not know requests, keys or how a chat is served.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Limits } from "../domain/Limits.ts"
import { type Prompt, type PromptContent, promptFinder } from "../domain/Prompt.ts"
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

type Ready = { readonly prompts: ReadonlyMap<PromptContent, ReadyPrompt>; readonly faults: ReadonlyArray<PromptFault> }

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
    const text = found === undefined ? undefined : textOf(found.content)
    if (text !== undefined) return Result.succeed(text)
    return Result.fail(found === undefined
      ? `there is no prompt or partial "${reference}"`
      : `"${reference}" is more than one text, so no other prompt can hold it`)
  }
  const prompts = new Map<PromptContent, ReadyPrompt>()
  const faults: Array<PromptFault> = []
  for (const { id, versions } of declared) {
    for (const [version, content] of versions) {
      const value = content._tag === "Chat" ? { messages: content.messages, ...content.parameters } : { text: content.text }
      const compiled = compileTemplate(value, partials, limits)
      for (const fault of compiled.faults) faults.push({ ...fault, id, version })
      if (content._tag === "Chat") prompts.set(content, { model: content.model, template: compiled.template })
    }
  }
  return { prompts, faults }
}

export class Prompts extends Context.Service<Prompts, {
  /** The prompt a reference `id`, `id@3` or `id@label` means; a partial is none. */
  readonly find: (reference: string) => ReadyPrompt | undefined
}>()("gateway/catalog/Prompts") {
  /** Declared prompts. A template that cannot be used is a defect here: whoever declares prompts checks them first. */
  static readonly layerMemory = (declared: ReadonlyArray<Prompt>): Layer.Layer<Prompts> =>
    Layer.effect(
      Prompts,
      Effect.gen(function*() {
        const { faults, prompts } = readyPrompts(declared, yield* Limits)
        const [fault] = faults
        if (fault !== undefined) return yield* Effect.die(new Error(`The prompt "${fault.id}" cannot be used: ${fault.message}.`))
        const find = promptFinder(declared)
        return {
          find: (reference) => {
            const found = find(reference)
            return found === undefined ? undefined : prompts.get(found.content)
          }
        }
      })
    )
}
