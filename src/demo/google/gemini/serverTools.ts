// Makes what Google's own tools add to an answer: search grounding and executed code.
// Must not depend on functions that the caller declared.

import { lastUserText } from "../shared/generateRequest.ts"
import type { GenerateRequest, Part } from "../shared/generateRequest.ts"

const sources = [
  { title: "example.com", uri: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/demo-1" },
  { title: "example.org", uri: "https://vertexaisearch.cloud.google.com/grounding-api-redirect/demo-2" }
]

const bytes = (text: string): number => Buffer.byteLength(text, "utf8")

/** Grounding of `text`: one support for each of its first sentences, segments counted in UTF-8 bytes. */
export const groundingFor = (request: GenerateRequest, text: string): Readonly<Record<string, unknown>> => {
  const sentences = [...text.matchAll(/[^.!?\s][^.!?]*[.!?]/g)].slice(0, sources.length)
  const supports = sentences.map((match, index) => {
    const startIndex = bytes(text.slice(0, match.index))
    const segment = {
      ...(startIndex === 0 ? {} : { startIndex }),
      endIndex: startIndex + bytes(match[0]),
      text: match[0]
    }
    return { segment, groundingChunkIndices: [index], confidenceScores: [0.97 - index / 10] }
  })
  const query = lastUserText(request).slice(0, 100)
  const chip = query.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
  return {
    searchEntryPoint: {
      renderedContent: `<style>\n.chip { border: solid 1px; }\n</style>\n<div class="container"><a class="chip">${chip}</a></div>\n`
    },
    groundingChunks: sources.map((web) => ({ web })),
    groundingSupports: supports,
    webSearchQueries: [query]
  }
}

const operations: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right
}

/** The two parts of executed code: an operation found in the prompt, or a count of its characters. */
export const executedCode = (request: GenerateRequest): ReadonlyArray<Part> => {
  const text = lastUserText(request)
  const sum = /(-?\d+(?:\.\d+)?)\s*([-+*/])\s*(-?\d+(?:\.\d+)?)/.exec(text)
  const operation = operations[sum?.[2] ?? ""]
  const code = sum === null ? `print(len(${JSON.stringify(text.slice(0, 80))}))\n` : `print(${sum[0]})\n`
  const value =
    sum === null || operation === undefined ? text.slice(0, 80).length : operation(Number(sum[1]), Number(sum[3]))
  return [
    { executableCode: { language: "PYTHON", code } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: `${value}\n` } }
  ]
}
