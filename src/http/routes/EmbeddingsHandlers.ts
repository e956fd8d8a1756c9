// POST /v1/embeddings: vectors of texts, or of several media.
// It must not depend on providers, or on how bodies are read.
import { embeddingsUsage } from "../../accounting/usageOf.ts"
import { checkLabelled } from "../../router/bodies/bodyChecks.ts"
import { strictlyEmbeddings } from "../../translate/shared/reply/strictly.ts"
import { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import { bodyReader } from "../request/ReadBody.ts"
import { answer } from "../response/Reply.ts"
import { fillModel, handleOperation, type OperationRoute } from "./OperationRoute.ts"

export const embeddingsRoute: OperationRoute<"embeddings", never> = {
  operation: "embeddings",
  read: fillModel(bodyReader(EmbeddingsRequest, checkLabelled, "embeddingsBodyBytes")),
  reply: (full, served, { strict }, incoming) =>
    answer(strict ? strictlyEmbeddings(full) : full, served, embeddingsUsage(full), incoming)
}

export const EmbeddingsHandlers = handleOperation(embeddingsRoute)
