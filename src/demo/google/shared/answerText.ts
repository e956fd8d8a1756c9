// Makes the text of a simulated answer: a greeting, a quotation of the prompt, sentences on tool results and media.
// Must not depend on framing, token counts or safety.

import { lastUserContent, lastUserText, partsOf, pendingResponses } from "./generateRequest.ts"
import type { GenerateRequest, Part } from "./generateRequest.ts"
import { placesIn, synthesise } from "./schemaValues.ts"

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}...` : text)

const greeting = /^\s*(hello|hi|hey|good (morning|evening|afternoon)|hallo|moin|bonjour|hola)\b/i

const mediaSentence = (part: Part): string | undefined => {
  if (part.inlineData !== undefined) {
    const type = part.inlineData.mimeType ?? "application/octet-stream"
    const bytes = Buffer.from(part.inlineData.data ?? "", "base64").length
    return `I see ${/^[aeiou]/.test(type) ? "an" : "a"} ${type} of ${bytes} bytes.`
  }
  return part.fileData === undefined
    ? undefined
    : `I see the file ${part.fileData.fileUri ?? ""} (${part.fileData.mimeType ?? "type not given"}).`
}

const resultSentence = (name: string, response: unknown): string => {
  const output = typeof response === "object" && response !== null && "output" in response ? response.output : response
  return `The tool ${name} answered ${cut(typeof output === "string" ? output : JSON.stringify(output), 400)}.`
}

const proseAnswer = (request: GenerateRequest, family: string): string => {
  const results = pendingResponses(request).map((result) =>
    resultSentence(result.name ?? "without a name", result.response)
  )
  if (results.length > 0) return `${results.join(" ")} That is all I need to answer you.`
  const text = lastUserText(request)
  const media = partsOf(lastUserContent(request)).flatMap((part) => mediaSentence(part) ?? [])
  if (media.length === 0 && greeting.test(text)) {
    return `Hello! I am a simulated ${family} model, so nothing you write leaves this machine. What would you like to try?`
  }
  const quoted = text === "" ? "You sent no words." : `You wrote: "${cut(text, 240)}".`
  const system = partsOf(request.systemInstruction)
    .map((part) => part.text ?? "")
    .join(" ")
  const obeyed = system === "" ? "" : ` I keep to the instruction "${cut(system, 120)}".`
  const seen = media.length === 0 ? "" : `${media.join(" ")} `
  return `${seen}${quoted}${obeyed} A simulated model cannot think about it, but it answers in the true wire format.`
}

/** The answer's text: prose, or JSON that fits the requested schema; `family` is the model name in the prose. */
export const answerText = (request: GenerateRequest, family = "Gemini"): string => {
  const config = request.generationConfig
  const schema = config?.responseJsonSchema ?? config?.responseSchema
  const text = lastUserText(request)
  if (schema !== undefined) {
    const value = synthesise(schema, { text, place: placesIn(text)[0], properties: "all" })
    return config?.responseMimeType === "text/x.enum" ? String(value) : JSON.stringify(value, null, 2)
  }
  const prose = proseAnswer(request, family)
  return config?.responseMimeType === "application/json" ? JSON.stringify({ answer: prose }, null, 2) : prose
}

/** The text of the thoughts that precede the answer. */
export const thoughtText = (request: GenerateRequest): string => {
  const asked = cut(lastUserText(request), 120)
  return `**Reading the Request**\n\nThe user wrote "${asked}". I look at what is offered to me and choose the plainest way to answer.\n\n\n`
}
