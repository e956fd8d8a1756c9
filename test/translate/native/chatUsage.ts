// The usage that the chat route reads of a recorded answer, as the measure for the reader of bytes.
import { isJsonObject, type JsonObject } from "../../../src/domain/text/json.ts"
import { countSearches, geminiUsage, mergeUsage, withSearches } from "../../../src/translate/shared/reply/usage.ts"
import { isStreamFailed, runFold } from "../../../src/translate/Translator.ts"
import { jsonEvents } from "../../support/streams.ts"

export const chatStream = (text: string) => {
  let merged: JsonObject | undefined
  let searches = 0
  for (const event of runFold(jsonEvents({ eventBytes: 8_388_608 }), [new TextEncoder().encode(text)])) {
    if (isStreamFailed(event) || !isJsonObject(event)) continue
    const metadata = event["usageMetadata"]
    if (isJsonObject(metadata)) merged = mergeUsage(merged, metadata)
    const [candidate] = Array.isArray(event["candidates"]) ? event["candidates"] : []
    if (isJsonObject(candidate)) searches = Math.max(searches, countSearches(candidate["groundingMetadata"]))
  }
  return merged === undefined ? undefined : withSearches(geminiUsage(merged), searches)
}
