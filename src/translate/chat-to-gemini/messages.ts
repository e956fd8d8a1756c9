// Translates the turns of a chat, their parts and their signatures to Gemini contents and a system instruction.
// It must not depend on tools, generation settings, URLs, or the place where signatures are stored.
import { defaultLimits } from "../../domain/Limits.ts"
import { Reader } from "../../domain/Reader.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { ContentOut, PartOut } from "../../wire/google.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { noResult, readMessages, type Turn, type TurnCall, withoutSystem } from "../shared/chat-request/readMessages.ts"
import { joinTexts, type MediaPart, type TurnPart, type VideoCut } from "../shared/chat-request/readParts.ts"
import { continueText, repairHistory } from "../shared/chat-request/repairHistory.ts"
import { isPackedThinking, issuerOf, knownSignature } from "../shared/chat-request/signatures.ts"
import { geminiNames, parseResult, type ToolNames, toolNamesOf } from "../shared/chat-request/toolCalls.ts"
import { type Media, readMedia } from "../shared/media/media.ts"
import { officeEnding } from "../shared/media/mime.ts"
import type { TranslateContext } from "../Translator.ts"

export interface GeminiMessages {
  readonly contents: ReadonlyArray<ContentOut>
  readonly systemInstruction?: ContentOut
  /** A user turn follows the assistant's last one, because the model takes no prefill (M-300). */
  readonly insertsTurn?: true
}

/** `isResults` marks a content of function responses; such contents are never merged with others. */
interface Content {
  readonly role: "user" | "model"
  readonly parts: Array<PartOut>
  readonly isResults: boolean
}

/** Translates the turns; `names` maps function names to the upstream's. */
export const messagesToGemini = (
  reader: Reader,
  turns: ReadonlyArray<Turn>,
  context: TranslateContext,
  names: ToolNames
): GeminiMessages => {
  const { system, talk } = withoutSystem(turns)
  const contents: Array<Content> = []
  for (const turn of talk) for (const content of turnToContents(reader, turn, context, names)) append(contents, content)
  const parts = system.length === 1 ? (system[0]?.parts ?? []) : system.flatMap((turn) => turn.parts)
  return finishContents(contents, partsToGemini(reader, parts, context.target), context)
}

/** Merges neighbours of the same role into one content; contents of results stay separate. */
const append = (contents: Array<Content>, content: Content): void => {
  if (content.parts.length === 0) return
  const last = contents.at(-1)
  const isSame = last !== undefined && last.role === content.role && !last.isResults && !content.isResults
  // Mutates only contents created here, never the client's; copying would cost quadratic time.
  if (isSame) for (const part of content.parts) last.parts.push(part)
  else contents.push(content)
}

const turnToContents = (
  reader: Reader,
  turn: Turn,
  context: TranslateContext,
  names: ToolNames
): ReadonlyArray<Content> => {
  const isModel = turn._tag === "Assistant"
  const parts = partsToGemini(reader, turn.parts, context.target, isModel ? issuerOf(turn.calls, context) : undefined)
  if (!isModel) return [userContent(parts)]
  const signatures = signaturesToSend(turn.calls, context)
  for (const [index, call] of turn.calls.entries()) parts.push(callPart(call, signatures[index], context, names))
  const model: Content = { role: "model", parts, isResults: false }
  if (turn.calls.length === 0 || turn.isLast) return [model]
  return [model, ...resultContents(reader, turn.calls, context, names)]
}

const userContent = (parts: Array<PartOut>): Content => ({ role: "user", parts, isResults: false })

/** Call ids are sent from Gemini 3 on; older models match calls and results by order. */
const idOf = (call: TurnCall, { target }: TranslateContext): { readonly id?: string } =>
  target.facts.generation === "g3" ? { id: call.id } : {}

const callPart = (
  call: TurnCall,
  signature: string | undefined,
  context: TranslateContext,
  names: ToolNames
): PartOut => ({
  functionCall: { name: names.mangle(call.name), args: call.args, ...idOf(call, context) },
  ...(signature === undefined ? {} : { thoughtSignature: signature })
})

/** One content of responses in the order of the calls, then one of media that responses cannot contain. */
const resultContents = (
  reader: Reader,
  calls: ReadonlyArray<TurnCall>,
  context: TranslateContext,
  names: ToolNames
): ReadonlyArray<Content> => {
  const responses: Array<PartOut> = []
  const separateMedia: Array<PartOut> = []
  for (const call of calls) {
    const { isError, parts: result } = call.result ?? noResult
    const media = result.filter((part) => part._tag === "Media")
    const innerMedia: Array<PartOut> = []
    for (const part of partsToGemini(reader, media, context.target))
      (fitsResponse(part, context.target) ? innerMedia : separateMedia).push(part)
    responses.push({
      functionResponse: {
        name: names.mangle(call.name),
        response: isError === true ? { error: joinTexts(result) } : parseResult(joinTexts(result)),
        ...idOf(call, context),
        ...(innerMedia.length === 0 ? {} : { parts: innerMedia.map(({ inlineData }) => ({ inlineData })) })
      }
    })
  }
  return [{ role: "user", parts: responses, isResults: true }, userContent(separateMedia)]
}

/** Changes the contents in place: all of them are made here. */
const finishContents = (
  contents: Array<Content>,
  texts: ReadonlyArray<PartOut>,
  { target }: TranslateContext
): GeminiMessages => {
  // Gemma and image models take no system instruction: the system texts go first in the first user turn (W32).
  const leadsUser = target.facts.generation === "gemma" || target.facts.image
  const preface = leadsUser && texts.length > 0 ? [{ text: texts.map((part) => part.text ?? "").join("\n\n") }] : []
  const [first] = contents
  if (first?.role === "user") first.parts.unshift(...preface)
  else contents.unshift(userContent(preface.length > 0 ? preface : [blank]))
  const plain = contents.map((content): ContentOut => ({
    role: content.role,
    parts: target.facts.generation === "g1" && lacksWords(content) ? [...content.parts, blank] : content.parts
  }))
  const system = texts.length === 0 || leadsUser ? {} : { systemInstruction: { parts: texts } }
  return target.facts.allowsPrefill || !endsWithText(plain.at(-1))
    ? { contents: plain, ...system }
    : { contents: [...plain, continueTurn], ...system, insertsTurn: true }
}

const continueTurn: ContentOut = {
  role: "user",
  parts: [{ text: continueText }]
}

/** True for a turn of the assistant without a call; calls wait for their results. */
const endsWithText = (last: ContentOut | undefined): boolean =>
  last?.role === "model" && last.parts.every((part) => part.functionCall === undefined)

const blank: PartOut = { text: " " }

/** The first generation rejects media without a text in the same turn. */
const lacksWords = ({ role, parts, isResults }: Content): boolean =>
  role === "user" && !isResults && parts.every((part) => part.text === undefined)

/** Translates the messages a second time, but only for a request that ends with an assistant message. */
export const insertsTurn = (request: ChatRequest, context: TranslateContext): boolean => {
  if (context.target.facts.allowsPrefill) return false
  const last = request.messages.findLast(({ role }) => role !== "system" && role !== "developer")
  if (last?.role !== "assistant") return false
  const reader = new Reader()
  const turns = reader.take(readMessages(repairHistory(request.messages), defaultLimits), [])
  const { insertsTurn } = messagesToGemini(reader, turns, context, toolNamesOf(request, geminiNames))
  return reader.fault === undefined && insertsTurn === true
}

// The parts of a turn

type Target = TranslateContext["target"]

/**
 * Translates all parts with an upstream equivalent; empty texts and unsigned thinking are dropped. `issuer`: backend
 * of the signatures, if known.
 */
export const partsToGemini = (
  reader: Reader,
  parts: ReadonlyArray<TurnPart>,
  target: Target,
  issuer?: string
): Array<PartOut> => reader.each(parts, (part) => partToGemini(reader, part, target, part.issuer ?? issuer))

const partToGemini = (
  reader: Reader,
  part: TurnPart,
  target: Target,
  issuer: string | undefined
): PartOut | undefined => {
  switch (part._tag) {
    case "Text": {
      const signature = signatureFor(part.signature, target, issuer)
      return part.text === "" && signature.thoughtSignature === undefined
        ? undefined
        : { text: part.text, ...signature }
    }
    case "Media":
      return mediaToGemini(reader, part, target, issuer)
    case "Own":
      return part.provider === target.kind && !isForeign(issuer, target) ? part.part : undefined
    // Gemini does not need thinking back. A block does not reveal its signature's issuer, and other families sign
    // blocks too.
    case "Thinking": {
      const signature = issuer === target.issuer ? signatureFor(part.signature, target, issuer) : {}
      return signature.thoughtSignature === undefined ? undefined : { text: part.thinking, thought: true, ...signature }
    }
    case "Redacted":
      return undefined
  }
}

const isForeign = (issuer: string | undefined, target: Target): boolean =>
  issuer !== undefined && issuer !== target.issuer

const signatureFor = (
  signature: string | undefined,
  target: Target,
  issuer: string | undefined
): { readonly thoughtSignature?: string } =>
  signature !== undefined && signature !== sentinel && takesSignatures(target) && !isForeign(issuer, target)
    ? { thoughtSignature: signature }
    : {}

const mediaToGemini = (
  reader: Reader,
  part: MediaPart,
  target: Target,
  issuer: string | undefined
): PartOut | undefined => {
  const media = reader.take(readMedia(part.source, { kind: target.kind, officeFiles: target.facts.officeFiles }))
  if (media === undefined) return undefined
  return {
    ...dataOf(media),
    ...videoMetadata(part.video),
    ...mediaResolution(part.detail, target),
    ...signatureFor(part.signature, target, issuer)
  }
}

const dataOf = (media: Media): PartOut => {
  if (media._tag === "Inline") return { inlineData: { mimeType: media.mimeType, data: media.data } }
  return { fileData: { ...(media.mimeType === undefined ? {} : { mimeType: media.mimeType }), fileUri: media.uri } }
}

/**
 * Media types that function responses may contain from Gemini 3 on. Source: Gemini API, function calling, multimodal
 * function responses.
 */
const inResponses = new Set<string | undefined>([
  "image/png",
  "image/jpeg",
  "image/webp",
  "application/pdf",
  "text/plain"
])
const fitsResponse = (part: PartOut, { facts }: Target): boolean =>
  facts.generation === "g3" &&
  (inResponses.has(part.inlineData?.mimeType) ||
    facts.officeFiles.has(officeEnding(part.inlineData?.mimeType ?? "") ?? ""))

const videoMetadata = (video: VideoCut | undefined): { readonly videoMetadata?: JsonObject } => {
  if (video === undefined) return {}
  const { startOffset, endOffset, fps } = video
  const metadata: JsonObject = {
    ...(startOffset === undefined ? {} : { startOffset }),
    ...(endOffset === undefined ? {} : { endOffset }),
    ...(fps === undefined ? {} : { fps })
  }
  return Object.keys(metadata).length === 0 ? {} : { videoMetadata: metadata }
}

const levels = new Set(["low", "medium", "high", "ultra_high"])

/** Per-part resolution exists from Gemini 3 on; `auto` means unset. */
const mediaResolution = (
  detail: string | undefined,
  { facts }: Target
): { readonly mediaResolution?: { readonly level: string } } =>
  facts.generation === "g3" && detail !== undefined && levels.has(detail)
    ? { mediaResolution: { level: `MEDIA_RESOLUTION_${detail.toUpperCase()}` } }
    : {}

// Thought signatures

/** Replaces an unknown signature. Source: Gemini API, thought signatures, "migrating from other models". */
export const sentinel = "skip_thought_signature_validator"

/** Generations before 2.5 do not support signatures. */
const takesSignatures = ({ facts }: TranslateContext["target"]): boolean =>
  facts.generation === "g2.5" || facts.generation === "g3"

/** A sentinel from the client counts as no signature, and packed Claude thinking is sent to Claude only. */
const isUsable = (signature: string): boolean => signature !== sentinel && !isPackedThinking(signature)

/**
 * Signatures for the calls of one model turn, in order: the known ones, and the sentinel for the first call of models
 * that require one. Later calls of a turn are often unsigned and stay unsigned.
 */
const signaturesToSend = (
  calls: ReadonlyArray<Parameters<typeof knownSignature>[0]>,
  context: TranslateContext
): ReadonlyArray<string | undefined> => {
  const { target } = context
  if (!takesSignatures(target)) return calls.map(() => undefined)
  return calls.map(
    (call, index) =>
      knownSignature(call, context, isUsable) ?? (index === 0 && target.facts.sentinel ? sentinel : undefined)
  )
}
