// Reads the flags of `anthropic-beta` as a list, checks the grammar of the header, and joins flags to the header.
// Must not list flags; the upstream rejects unknown ones.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { invalid } from "../fault.ts"

const longest = 1024
const mostFlags = 20
const grammar = /^[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*$/

/** The rule for the flags, for error messages. */
export const betaRule = `is a comma-separated list of at most ${mostFlags} flags of letters, digits and "-"`

/** The distinct flags of all texts, in order; undefined when a text breaks the grammar. */
export const parseBetas = (texts: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const flags = texts.flatMap((text) => text.split(",").map((flag) => flag.trim()))
  const joined = flags.join(",")
  const isSound = flags.length === 0 || (joined.length <= longest && flags.length <= mostFlags && grammar.test(joined))
  return isSound ? [...new Set(flags)] : undefined
}

/** The flags of a body's `anthropic_beta`, text or array; undefined when malformed. Empty text gives no flags. */
export const bodyBetas = (value: unknown): ReadonlyArray<string> | undefined => {
  if (value === undefined || value === null || value === "") return []
  const texts: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return texts.every((text) => typeof text === "string") ? parseBetas(texts) : undefined
}

/** Joins the flags of header and body into one header: no header without flags, a refusal when a list is malformed. */
export const betaHeader = (
  ...asked: ReadonlyArray<ReadonlyArray<string> | undefined>
): Result.Result<Readonly<Record<string, string>>, BodyInvalid> => {
  const all = asked.includes(undefined) ? undefined : parseBetas(asked.flatMap((flags) => flags ?? []))
  if (all === undefined) return invalid("anthropic-beta", "invalid_header", `anthropic-beta ${betaRule}.`)
  return Result.succeed(all.length === 0 ? {} : { "anthropic-beta": all.join(",") })
}
