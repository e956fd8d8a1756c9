// The place of the text in an event of a Gemini stream, and of its token counts.
// Must not know how events are read.
import type { RepeatPlace } from "../../repeatedEvents.ts"

export const geminiTextPlace: RepeatPlace = {
  path: ["candidates", 0, "content", "parts", 0, "text"],
  counts: "usageMetadata"
}
