// Image generation as both providers prepare it: Imagen by predict, Gemini by one generateContent per picture.
// It must not depend on bodies, configs or tokens.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import { geminiCanvas, imagesToGemini } from "../translate/images-to-gemini.ts"
import { imagesToImagen, isImagen } from "../translate/images-to-imagen.ts"
import { isWithoutPicture, joinImages } from "../translate/shared/reply/imageList.ts"
import { cutImages } from "../translate/shared/readImages.ts"
import { prepareUnary } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput, targetFacts } from "./callInput.ts"
import { inParts } from "./inParts.ts"
import { familyLacks, type RouteOf } from "./callRoute.ts"

/** How many calls of one request run concurrently. */
const concurrency = 4

/** Prepares images over a route of one provider. */
export const images =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"images"> =>
  (request, context, model) => {
    const { account } = context
    if (model.endpoint) return familyLacks(account, model, "images")
    const found = targetFacts(context, model)
    const drawsAll = isImagen(found.own)
    const route = routeOf(account, model, drawsAll ? ":predict" : ":generateContent")
    if (Result.isFailure(route)) return Result.fail(route.failure)
    const input = callInput("images", context, model, route.success, limits, found)
    if (drawsAll) return prepareUnary({ translator: imagesToImagen, request, ...input })
    return Result.flatMap(cutImages(request, geminiCanvas(account.kind)), (parts) =>
      inParts(parts, (part) => prepareUnary({ translator: imagesToGemini, request: part, ...input }), {
        concurrency,
        join: joinImages,
        isSpared: isWithoutPicture
      })
    )
  }
