// One line on a prompt or partial, for people.
// Must not read the content of its versions.
import { defaultLabel, type Prompt } from "../domain/Prompt.ts"

/** Such as `prompt haiku (A haiku): versions 1, 2; production is 1`. */
export const describePrompt = ({ id, labels, name, versions }: Prompt): string => {
  const isPartial = [...versions.values()].every((content) => content._tag === "Partial")
  const named = [...labels].map(([label, version]) => `${label} is ${version}`)
  const served = labels.has(defaultLabel) || versions.size === 1 ? [] : ["the newest is served"]
  return [
    `${isPartial ? "partial" : "prompt"} ${id}${name === undefined ? "" : ` (${name})`}: version${versions.size === 1 ? "" : "s"} ${[...versions.keys()].join(", ")}`,
    ...named,
    ...served
  ].join("; ")
}
