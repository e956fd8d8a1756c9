// Flags of the header `anthropic-beta`: text to a list, within the grammar a header needs.
// It must not know which flags exist; the upstream says so.

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
