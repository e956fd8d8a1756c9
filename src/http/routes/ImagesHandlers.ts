// POST /v1/images/generations.
// It must not know providers or how bodies are read.
import { strictlyImages } from "../../translate/shared/reply/strictly.ts"
import { ImagesRequest } from "../../wire/openai/Images.ts"
import { checkLabelled } from "../../router/bodyChecks.ts"
import { unaryRoute } from "./UnaryRoute.ts"
import { imagesUsage } from "../../accounting/usageOf.ts"

export const ImagesHandlers = unaryRoute({
  path: "/v1/images/generations",
  operation: "images",
  body: ImagesRequest,
  check: checkLabelled,
  most: "imagesBodyBytes",
  strictly: strictlyImages,
  usage: imagesUsage
})
