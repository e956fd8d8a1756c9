// Lists every translator by name.
// Must not depend on providers or routes.
import { chatToClaude } from "./chat-to-claude/ChatToClaude.ts"
import { chatToGemini } from "./chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "./chat-to-openai/ChatToOpenAi.ts"
import { chatToPredict } from "./chat-to-predict/ChatToPredict.ts"
import { countToClaude } from "./count-to-claude.ts"
import { countToGemini } from "./count-to-gemini.ts"
import { embeddingsToBatch, embeddingsToEmbedContent } from "./embeddings-to-gemini.ts"
import { embeddingsToOpenAi } from "./embeddings-to-openai.ts"
import { embeddingsToPredict } from "./embeddings-to-predict/EmbeddingsToPredict.ts"
import { imagesToGemini } from "./images-to-gemini.ts"
import { imagesToImagen } from "./images-to-imagen.ts"

export const translators = {
  "chat-to-claude": chatToClaude,
  "chat-to-gemini": chatToGemini,
  "chat-to-openai": chatToOpenAi,
  "chat-to-predict": chatToPredict,
  "count-to-claude": countToClaude,
  "count-to-gemini": countToGemini,
  "embeddings-to-gemini": embeddingsToEmbedContent,
  "embeddings-to-gemini-batch": embeddingsToBatch,
  "embeddings-to-openai": embeddingsToOpenAi,
  "embeddings-to-predict": embeddingsToPredict,
  "images-to-gemini": imagesToGemini,
  "images-to-imagen": imagesToImagen
} as const
