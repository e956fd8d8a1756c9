// Translates turns of a chat to Gemini contents and a separate system instruction.
// Must not depend on tools, generation settings or URLs.
import { continueText } from "../shared/chat-request/continueText.ts"
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { ContentOut, PartOut } from "../../wire/google/GenerateContent.ts"
import { type TurnCall, noResult, type Turn, withoutSystem } from "../shared/chat-request/readMessages.ts"
import { joinTexts } from "../shared/chat-request/readParts.ts"
import { issuerOf } from "../shared/chat-request/signatures.ts"
import { parseResult } from "../shared/chat-request/toolCalls.ts"
import type { ToolNames } from "../shared/chat-request/toolNames.ts"
import type { TranslateContext } from "../Translator.ts"
import { fitsResponse, partsToGemini } from "./requestParts.ts"
import { signaturesToSend } from "./signatures.ts"

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

type Read<A> = Result.Result<A, RequestFault>

/** Translates the turns; `names` maps function names to the upstream's. */
export const messagesToGemini = (
  turns: ReadonlyArray<Turn>,
  context: TranslateContext,
  names: ToolNames
): Read<GeminiMessages> => {
  const { system, talk } = withoutSystem(turns)
  const contents: Array<Content> = []
  for (const turn of talk) {
    const read = turnToContents(turn, context, names)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    for (const content of read.success) append(contents, content)
  }
  const texts = partsToGemini(
    system.length === 1 ? (system[0]?.parts ?? []) : system.flatMap((turn) => turn.parts),
    context.target
  )
  return Result.isFailure(texts)
    ? Result.fail(texts.failure)
    : Result.succeed(finishContents(contents, texts.success, context))
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

const turnToContents = (turn: Turn, context: TranslateContext, names: ToolNames): Read<ReadonlyArray<Content>> => {
  const isModel = turn._tag === "Assistant"
  const read = partsToGemini(turn.parts, context.target, isModel ? issuerOf(turn.calls, context) : undefined)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  if (!isModel) return Result.succeed([userContent(read.success)])
  const signatures = signaturesToSend(turn.calls, context)
  for (const [index, call] of turn.calls.entries()) read.success.push(callPart(call, signatures[index], context, names))
  const model: Content = { role: "model", parts: read.success, isResults: false }
  if (turn.calls.length === 0 || turn.isLast) return Result.succeed([model])
  return Result.map(resultContents(turn.calls, context, names), (answered) => [model, ...answered])
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
  calls: ReadonlyArray<TurnCall>,
  context: TranslateContext,
  names: ToolNames
): Read<ReadonlyArray<Content>> => {
  const responses: Array<PartOut> = []
  const apartFrom: Array<PartOut> = []
  for (const call of calls) {
    const { isError, parts: result } = call.result ?? noResult
    const media = partsToGemini(
      result.filter((part) => part._tag === "Media"),
      context.target
    )
    if (Result.isFailure(media)) return Result.fail(media.failure)
    const held: Array<PartOut> = []
    for (const part of media.success) (fitsResponse(part, context.target) ? held : apartFrom).push(part)
    responses.push({
      functionResponse: {
        name: names.mangle(call.name),
        response: isError === true ? { error: joinTexts(result) } : parseResult(joinTexts(result)),
        ...idOf(call, context),
        ...(held.length === 0 ? {} : { parts: held.map(({ inlineData }) => ({ inlineData })) })
      }
    })
  }
  return Result.succeed([{ role: "user", parts: responses, isResults: true }, userContent(apartFrom)])
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
