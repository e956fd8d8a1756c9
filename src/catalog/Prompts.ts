// The compiled prompts of the operator and the store, found by reference.
// It must not know requests, keys or how a chat is served.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Limits } from "../domain/Limits.ts"
import { type Prompt, promptFinder } from "../domain/Prompt.ts"
import { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { HeldPrompts } from "./heldPrompts.ts"
import { type CompiledPrompts, type ReadyPrompt, compilePrompts } from "./readyPrompts.ts"

const views = new WeakMap<ConfigSnapshot["Service"], () => HeldPrompts>()

/** The prompts as they change; all users of a snapshot share them. A changed provider reads them again. */
export const heldPromptsView: Effect.Effect<() => HeldPrompts, never, ConfigSnapshot> = Effect.gen(function* () {
  const snapshot = yield* ConfigSnapshot
  const limits = yield* Limits
  const known = views.get(snapshot)
  if (known !== undefined) return known
  const view = yield* snapshot.track({
    kind: "prompt",
    rebuiltBy: ["provider"],
    build: (state) => new HeldPrompts(state, limits),
    change: (held, { records }, ids) => held.put(records.prompt, ids)
  })
  views.set(snapshot, view)
  return view
})
export class Prompts extends Context.Service<
  Prompts,
  {
    /** The prompt that a reference `id`, `id@3` or `id@label` means; undefined for a partial. */
    readonly find: (reference: string) => ReadyPrompt | undefined
  }
>()("gateway/catalog/Prompts") {
  /** The declared prompts and those of the store; each lookup uses the current snapshot. */
  static readonly layer: Layer.Layer<Prompts, never, ConfigSnapshot> = Layer.effect(
    Prompts,
    Effect.gen(function* () {
      const view = yield* heldPromptsView
      return { find: (reference) => view().find(reference) }
    })
  )

  /** The given prompts only. An invalid template is a defect here, because the caller checks declared prompts first. */
  static readonly layerMemory = (declared: ReadonlyArray<Prompt>): Layer.Layer<Prompts> =>
    Layer.effect(
      Prompts,
      Effect.gen(function* () {
        const { faults, prompts } = compilePrompts(declared, yield* Limits)
        const [fault] = faults
        if (fault !== undefined)
          return yield* Effect.die(new Error(`The prompt "${fault.id}" cannot be used: ${fault.message}.`))
        return { find: finderOf(declared, prompts) }
      })
    )
}

const finderOf = (declared: ReadonlyArray<Prompt>, ready: CompiledPrompts["prompts"]): Prompts["Service"]["find"] => {
  const find = promptFinder(declared)
  return (reference) => {
    const found = find(reference)
    return found === undefined ? undefined : ready.get(found.content)
  }
}
