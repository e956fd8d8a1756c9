// The thinking blocks of a history: those of this gateway are opened, all others are as if they were absent.
// It must not know what a carrier is good for. Rules: D306, R406, R409.
import { type Carrier, readCarrier, sealedPrefix } from "../../shared/carrier/carrier.ts"
import type { RequestFacts } from "../facts.ts"
import type { ReadMessage } from "./readTurns.ts"

export interface OpenedCarriers {
  /** By the path of the block. */
  readonly byPath: ReadonlyMap<string, Carrier>
  /** Of several carriers of one answer the last counts: later ones repeat the earlier. */
  readonly latest: ReadonlyMap<string, Carrier>
}

/** What cannot be opened was sealed for another key, or was changed; sessions move between keys. */
export const openCarriers = (
  all: ReadonlyArray<ReadMessage>,
  { unseal }: Pick<RequestFacts, "unseal">,
  ignored: Array<string>
): OpenedCarriers => {
  const byPath = new Map<string, Carrier>()
  const latest = new Map<string, Carrier>()
  for (const { blocks, role } of all) {
    if (role !== "assistant") continue
    for (const { block, path } of blocks) {
      const sealed =
        block["type"] === "thinking"
          ? block["signature"]
          : block["type"] === "redacted_thinking"
            ? block["data"]
            : undefined
      if (typeof sealed !== "string" || !sealed.startsWith(sealedPrefix)) continue
      const text = unseal(sealed)
      const carrier = text === undefined ? undefined : readCarrier(text)
      if (carrier === undefined) ignored.push(path)
      else {
        byPath.set(path, carrier)
        latest.set(carrier.r, carrier)
      }
    }
  }
  return { byPath, latest }
}
