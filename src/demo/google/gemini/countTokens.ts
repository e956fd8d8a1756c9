// Answers countTokens in the form of each service.
// It must not depend on sockets or credentials.

import { type Answer, type Call, errorAnswer, jsonAnswer, type Operation } from "../shared/answers.ts"
import {
  billableCharacters,
  cachedTokens,
  type CountRequest,
  type GenerateRequest,
  partsOf,
  promptTokens,
  totalOf
} from "../shared/generateRequest.ts"
import { modelKind } from "../shared/models.ts"
import { isGoogleTarget, namedModel, serviceOf, unknownModel, validateCount } from "./validate.ts"

const kinds = ["chat", "text-embedding", "content-embedding"] as const

/** The counted content: the wrapped request, the contents, or the texts of an embedding model. */
const countedOf = (request: CountRequest): Partial<GenerateRequest> => {
  if (request.instances === undefined) return request.generateContentRequest ?? request
  const texts = request.instances.map((instance) => (typeof instance.content === "string" ? instance.content : ""))
  return { contents: [{ parts: texts.map((text) => ({ text })) }] }
}

const answer = (call: Call): Answer => {
  const { route } = call
  const missing = unknownModel(call, kinds)
  if (missing !== undefined) return errorAnswer(missing, false)
  const service = serviceOf(route)
  const model = namedModel(route)
  const embeds = modelKind(model) === "text-embedding"
  const verdict = validateCount(
    call.body,
    { service, model, acceptForeignSignatures: call.acceptForeignSignatures },
    embeds
  )
  if (!verdict.accepted) return errorAnswer(verdict.error, false)
  const counted = countedOf(verdict.request)
  const prompt = promptTokens(counted)
  const total = totalOf(prompt)
  if (service.backend === "vertex") {
    return jsonAnswer(200, {
      totalTokens: total,
      totalBillableCharacters: billableCharacters(counted),
      promptTokensDetails: prompt
    })
  }
  if (counted.cachedContent === undefined) return jsonAnswer(200, { totalTokens: total, promptTokensDetails: prompt })
  const cached = {
    cachedContentTokenCount: cachedTokens,
    cacheTokensDetails: [{ modality: "TEXT", tokenCount: cachedTokens }]
  }
  return jsonAnswer(200, { totalTokens: total + cachedTokens, ...cached, promptTokensDetails: prompt })
}

export const countTokens: Operation = {
  matches: (route) => isGoogleTarget(route) && route.operation === "countTokens",
  answer
}

/** Ids and texts of the tokens of each content; words stand for tokens. */
const tokensOf = (call: Call): Answer => {
  const missing = unknownModel(call, kinds)
  if (missing !== undefined) return errorAnswer(missing, false)
  const verdict = validateCount(
    call.body,
    {
      service: serviceOf(call.route),
      model: namedModel(call.route),
      acceptForeignSignatures: call.acceptForeignSignatures
    },
    false
  )
  if (!verdict.accepted) return errorAnswer(verdict.error, false)
  const tokensInfo = (countedOf(verdict.request).contents ?? []).map((content) => {
    const words = partsOf(content).flatMap(({ text }) => (text ?? "").match(/\S+\s*/g) ?? [])
    return {
      tokenIds: words.map((word) => String([...word].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0))),
      tokens: words.map((word) => Buffer.from(word).toString("base64")),
      role: content.role ?? "user"
    }
  })
  return jsonAnswer(200, { tokensInfo })
}

export const computeTokens: Operation = {
  matches: (route) => route.service !== "google" && isGoogleTarget(route) && route.operation === "computeTokens",
  answer: tokensOf
}
