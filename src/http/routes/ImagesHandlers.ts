// POST /v1/images/generations: pictures from a text.
// It must not depend on providers, or on how bodies are read.
import { imagesUsage } from "../../accounting/usageOf.ts"
import { checkLabelled } from "../../router/bodies/bodyChecks.ts"
import { strictlyImages } from "../../translate/shared/reply/strictly.ts"
import { ImagesRequest } from "../../wire/openai/Images.ts"
import { bodyReader } from "../request/ReadBody.ts"
import { answer } from "../response/Reply.ts"
import { fillModel, handleOperation, type OperationRoute } from "./OperationRoute.ts"

export const imagesRoute: OperationRoute<"images", never> = {
  operation: "images",
  read: fillModel(bodyReader(ImagesRequest, checkLabelled, "imagesBodyBytes")),
  reply: (full, served, { strict }, incoming) =>
    answer(strict ? strictlyImages(full) : full, served, imagesUsage(full), incoming)
}

export const ImagesHandlers = handleOperation(imagesRoute)
