// Every translator by name.
// It must not know providers or routes.
import { chatToGemini } from "./chat-to-gemini/ChatToGemini.ts"

export const translators = { "chat-to-gemini": chatToGemini } as const
