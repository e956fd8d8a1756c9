// Answers countTokens in the form of each service, and computeTokens of Vertex AI.
// It must not depend on sockets or credentials.

import { type Answer, type Call, jsonAnswer } from "../shared/answers.ts"
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
import { googleOperation, namedModel, serviceOf, validateCount, type Verdict } from "./validate.ts"

const kinds = () => ["chat", "text-embedding", "content-embedding"] as const

/** The counted content: the wrapped request, the contents, or the texts of an embedding model. */
const countedOf = (request: CountRequest): Partial<GenerateRequest> => {
  if (request.instances === undefined) return request.generateContentRequest ?? request
  const texts = request.instances.map((instance) => (typeof instance.content === "string" ? instance.content : ""))
  return { contents: [{ parts: texts.map((text) => ({ text })) }] }
}

const validate = (call: Call): Verdict<CountRequest> => {
  const { acceptForeignSignatures, body, route } = call
  const model = namedModel(route)
  const embeds = route.operation === "countTokens" && modelKind(model) === "text-embedding"
  return validateCount(body, { service: serviceOf(route), model, acceptForeignSignatures }, embeds)
}

const countAnswer = (request: CountRequest, { route }: Call): Answer => {
  const counted = countedOf(request)
  const prompt = promptTokens(counted)
  const total = totalOf(prompt)
  if (serviceOf(route).backend === "vertex") {
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

export const countTokens = googleOperation({
  matches: ({ operation }) => operation === "countTokens",
  kinds,
  validate,
  answer: countAnswer
})

/** Ids and texts of the tokens of each content; words stand for tokens. */
const tokensAnswer = (request: CountRequest): Answer => {
  const tokensInfo = (countedOf(request).contents ?? []).map((content) => {
    const words = partsOf(content).flatMap(({ text }) => (text ?? "").match(/\S+\s*/g) ?? [])
    return {
      tokenIds: words.map((word) => String([...word].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0))),
      tokens: words.map((word) => Buffer.from(word).toString("base64")),
      role: content.role ?? "user"
    }
  })
  return jsonAnswer(200, { tokensInfo })
}

export const computeTokens = googleOperation({
  matches: ({ operation, service }) => service !== "google" && operation === "computeTokens",
  kinds,
  validate,
  answer: tokensAnswer
})
