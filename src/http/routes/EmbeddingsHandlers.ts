// POST /v1/embeddings: vectors of texts, or of several media.
// It must not depend on providers, or on how bodies are read.
import { checkLabelled } from "../../router/bodies/bodyChecks.ts"
import { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import { bodyReader } from "../request/ReadBody.ts"
import { embeddings } from "../response/Reply.ts"
import { fillModel, handleOperation, type OperationRoute } from "./OperationRoute.ts"

export const embeddingsRoute: OperationRoute<"embeddings", never> = {
  operation: "embeddings",
  read: fillModel(bodyReader(EmbeddingsRequest, checkLabelled, "embeddingsBodyBytes")),
  reply: (list, served, { strict }, incoming) => embeddings(list, served, strict, incoming)
}

export const EmbeddingsHandlers = handleOperation(embeddingsRoute)
