// POST /v1/embeddings.
// It must not know providers or how bodies are read.
import { strictlyEmbeddings } from "../../translate/shared/reply/strictly.ts"
import { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import { checkLabelled } from "../../router/bodyChecks.ts"
import { unaryRoute } from "./UnaryRoute.ts"
import { embeddingsUsage } from "../../accounting/usageOf.ts"

export const EmbeddingsHandlers = unaryRoute({
  path: "/v1/embeddings",
  operation: "embeddings",
  body: EmbeddingsRequest,
  check: checkLabelled,
  most: "embeddingsBodyBytes",
  strictly: strictlyEmbeddings,
  usage: embeddingsUsage
})
