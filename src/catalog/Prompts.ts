// The prompts on offer, each made ready to be filled.
// It must not know requests, keys or how a chat is served.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Limits } from "../domain/Limits.ts"
import { type Prompt, promptFinder } from "../domain/Prompt.ts"
import { Holdings } from "../store/Holdings.ts"
import { heldPrompts } from "./heldPrompts.ts"
import { type Ready, type ReadyPrompt, readyPrompts } from "./readyPrompts.ts"

export class Prompts extends Context.Service<
  Prompts,
  {
    /** The prompt a reference `id`, `id@3` or `id@label` means; a partial is none. */
    readonly find: (reference: string) => ReadyPrompt | undefined
  }
>()("gateway/catalog/Prompts") {
  /** The declared prompts and those of the store, as they are at the moment of asking. */
  static readonly layer: Layer.Layer<Prompts, never, Holdings> = Layer.effect(
    Prompts,
    Effect.gen(function* () {
      const limits = yield* Limits
      const view = yield* (yield* Holdings).view((held) => {
        const { faults, prompts } = heldPrompts(held, limits)
        return { view: finderOf(prompts, readyPrompts(prompts, limits).prompts), faults }
      })
      return { find: (reference) => view()(reference) }
    })
  )

  /** Declared prompts. A template that cannot be used is a defect here: whoever declares prompts checks them first. */
  static readonly layerMemory = (declared: ReadonlyArray<Prompt>): Layer.Layer<Prompts> =>
    Layer.effect(
      Prompts,
      Effect.gen(function* () {
        const { faults, prompts } = readyPrompts(declared, yield* Limits)
        const [fault] = faults
        if (fault !== undefined)
          return yield* Effect.die(new Error(`The prompt "${fault.id}" cannot be used: ${fault.message}.`))
        return { find: finderOf(declared, prompts) }
      })
    )
}

const finderOf = (declared: ReadonlyArray<Prompt>, ready: Ready["prompts"]): Prompts["Service"]["find"] => {
  const find = promptFinder(declared)
  return (reference) => {
    const found = find(reference)
    return found === undefined ? undefined : ready.get(found.content)
  }
}
