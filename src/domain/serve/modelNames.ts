// Names of models that clients write in other words: an operator's aliases, and the suffix by which Claude Code asks for a long context.
// It must not know accounts.

/** Operator's names of models, such as `sonnet` for `@vertex-ai/claude-sonnet-5-5`. */
export type ModelAliases = Readonly<Record<string, string>>

const aliasGrammar = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/

/** True for text that may be a name of a model. */
export const isAliasName = (text: string): boolean => aliasGrammar.test(text)

/** The flag that `[1m]` stands for. Source: Anthropic's page on context windows. */
export const longContextBeta = "context-1m-2025-08-07"

const longContext = /\[1m\]$/i

export interface NamedModel {
  readonly model: string
  /** Flags that the name itself asks for. */
  readonly betas: ReadonlyArray<string>
}

const noBetas: ReadonlyArray<string> = []

/** A path of Claude's has the publisher of a name that is not known to be Claude. */
const publisher = /^anthropic[./]/

/** The model of the field `model`: the suffix is cut first, then the name is looked up once, so that an alias may not lead to an alias. */
export const resolveModelName = (written: string, aliases: ModelAliases): NamedModel => {
  const isLong = longContext.test(written)
  const name = isLong ? written.replace(longContext, "") : written
  const alias = [name, name.replace(publisher, "")].find((one) => Object.hasOwn(aliases, one))
  const target = alias === undefined ? undefined : aliases[alias]
  const isAliasLong = target !== undefined && longContext.test(target)
  const model = target === undefined ? name : target.replace(longContext, "")
  return { model, betas: isLong || isAliasLong ? [longContextBeta] : noBetas }
}
