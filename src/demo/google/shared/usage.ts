// Estimates token counts by modality, as Google reports them: four characters a token, fixed prices for media.
// Must not depend on how a reply is framed.

import { partsOf } from "./generateRequest.ts"
import type { GenerateRequest, Part } from "./generateRequest.ts"

export interface ModalityCount {
  readonly modality: string
  readonly tokenCount: number
}

/** Tokens of every cached content. */
export const cachedTokens = 1024

export const textTokens = (text: string): number => Math.ceil(text.length / 4)

const mediaPrice: Readonly<Record<string, number>> = { IMAGE: 258, DOCUMENT: 258, AUDIO: 32, VIDEO: 263 }

/** Google's modality word for a MIME type. */
export const modalityOf = (mimeType: string): string => {
  if (mimeType.startsWith("image/")) return "IMAGE"
  if (mimeType.startsWith("audio/")) return "AUDIO"
  if (mimeType.startsWith("video/")) return "VIDEO"
  return mimeType === "application/pdf" ? "DOCUMENT" : "TEXT"
}

const partCount = (part: Part): ModalityCount => {
  const media = part.inlineData ?? part.fileData
  if (media !== undefined) {
    const modality = modalityOf(media.mimeType ?? "")
    return { modality, tokenCount: mediaPrice[modality] ?? textTokens(part.inlineData?.data ?? "") }
  }
  const words =
    part.text ??
    JSON.stringify(part.functionCall ?? part.functionResponse ?? part.executableCode ?? part.codeExecutionResult ?? "")
  return { modality: "TEXT", tokenCount: textTokens(words) }
}

/** Tokens of contents, system instruction and tool declarations by modality, text first. */
export const promptTokens = (request: Partial<GenerateRequest>): ReadonlyArray<ModalityCount> => {
  const parts = [...(request.contents ?? []).flatMap(partsOf), ...partsOf(request.systemInstruction)]
  const sums = new Map<string, number>([["TEXT", 0]])
  for (const { modality, tokenCount } of parts.map(partCount))
    sums.set(modality, (sums.get(modality) ?? 0) + tokenCount)
  const tools = request.tools === undefined ? 0 : Math.ceil(JSON.stringify(request.tools).length / 8)
  sums.set("TEXT", (sums.get("TEXT") ?? 0) + tools)
  return [...sums]
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }))
}

export const totalOf = (counts: ReadonlyArray<ModalityCount>): number =>
  counts.reduce((sum, count) => sum + count.tokenCount, 0)

/** Characters other than white space; Vertex AI bills these. */
export const billableCharacters = (request: Partial<GenerateRequest>): number =>
  [...(request.contents ?? []).flatMap(partsOf), ...partsOf(request.systemInstruction)].reduce(
    (sum, part) => sum + (part.text ?? "").replace(/\s/g, "").length,
    0
  )
