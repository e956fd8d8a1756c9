// POST /v1/images/generations.
// It must not know providers or how bodies are read.
import * as Result from "effect/Result"
import { strictlyImages } from "../translate/shared/strictly.ts"
import { ImagesRequest } from "../wire/openai/Images.ts"
import { checkModel } from "../router/bodyChecks.ts"
import { unaryRoute } from "./UnaryRoute.ts"
import { imagesUsage } from "./usageOf.ts"

export const ImagesHandlers = unaryRoute({
  path: "/v1/images/generations",
  operation: "images",
  body: ImagesRequest,
  check: (request) => Result.map(checkModel(request.model), () => request),
  most: "imagesBodyBytes",
  strictly: strictlyImages,
  usage: imagesUsage
})
