// Flags of the header `anthropic-beta`: text to a list, within the grammar a header needs, and the header itself.
// It must not know which flags exist; the upstream says so.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { invalid } from "../fault.ts"

const longest = 1024
const mostFlags = 20
const grammar = /^[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*$/

/** What is asked of the text, for a message that refuses it. */
export const betaRule = `is a comma-separated list of at most ${mostFlags} flags of letters, digits and "-"`

/** The flags of all texts, each once, in order; undefined when they are no such list. */
export const parseBetas = (texts: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const flags = texts.flatMap((text) => text.split(",").map((flag) => flag.trim()))
  const joined = flags.join(",")
  const isSound = flags.length === 0 || (joined.length <= longest && flags.length <= mostFlags && grammar.test(joined))
  return isSound ? [...new Set(flags)] : undefined
}

/** The flags a body asks for itself, text or array; undefined when they are no list of flags. An empty text asks for none. */
export const betasOf = (value: unknown): ReadonlyArray<string> | undefined => {
  if (value === undefined || value === null || value === "") return []
  const texts: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return texts.every((text) => typeof text === "string") ? parseBetas(texts) : undefined
}

/** The one header of all flags, whoever asked for them; none when nobody did, a refusal when some are none. */
export const betaHeader = (
  ...asked: ReadonlyArray<ReadonlyArray<string> | undefined>
): Result.Result<Readonly<Record<string, string>>, BodyInvalid> => {
  const all = asked.includes(undefined) ? undefined : parseBetas(asked.flatMap((flags) => flags ?? []))
  if (all === undefined) return invalid("anthropic-beta", "invalid_header", `anthropic-beta ${betaRule}.`)
  return Result.succeed(all.length === 0 ? {} : { "anthropic-beta": all.join(",") })
}
