// Turns of a chat as contents of Gemini, with the system texts apart.
// It must not know tools, generation settings or URLs.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { ContentOut, PartOut } from "../../wire/google/GenerateContent.ts"
import { type Call, noResult, type Turn, withoutSystem } from "../shared/chat-request/readMessages.ts"
import { textOf } from "../shared/chat-request/readParts.ts"
import { issuerOf } from "../shared/chat-request/signatures.ts"
import { parseResult } from "../shared/chat-request/toolCalls.ts"
import type { ToolNames } from "../shared/chat-request/toolNames.ts"
import type { TranslateContext } from "../Translator.ts"
import { fitsResponse, partsToGemini } from "./requestParts.ts"
import { signaturesToSend } from "./signatures.ts"

export interface GeminiMessages {
  readonly contents: ReadonlyArray<ContentOut>
  readonly systemInstruction?: ContentOut
}

/** `isResults` marks a content of function responses, which nothing else may join. */
interface Content {
  readonly role: "user" | "model"
  readonly parts: Array<PartOut>
  readonly isResults: boolean
}

type Read<A> = Result.Result<A, RequestFault>

/** Translates the turns; `names` gives functions the names the upstream takes. */
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
    : Result.succeed(finished(contents, texts.success, context))
}

/** Neighbours of one role become one content; results stay by themselves. */
const append = (contents: Array<Content>, content: Content): void => {
  if (content.parts.length === 0) return
  const last = contents.at(-1)
  const isSame = last !== undefined && last.role === content.role && !last.isResults && !content.isResults
  // Only contents made here grow, never the client's; copying would cost the square of the neighbours.
  if (isSame) for (const part of content.parts) last.parts.push(part)
  else contents.push(content)
}

const turnToContents = (turn: Turn, context: TranslateContext, names: ToolNames): Read<ReadonlyArray<Content>> => {
  const isModel = turn._tag === "Assistant"
  const read = partsToGemini(turn.parts, context.target, isModel ? issuerOf(turn.calls, context) : undefined)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  if (!isModel) return Result.succeed([userContent(read.success)])
  const signatures = signaturesToSend(turn.calls, context)
  const calls = turn.calls.map((call, index) => callPart(call, signatures[index], context, names))
  const model: Content = { role: "model", parts: [...read.success, ...calls], isResults: false }
  if (turn.calls.length === 0 || turn.isLast) return Result.succeed([model])
  return Result.map(resultContents(turn.calls, context, names), (answered) => [model, ...answered])
}

const userContent = (parts: ReadonlyArray<PartOut>): Content => ({ role: "user", parts: [...parts], isResults: false })

/** Ids travel from Gemini 3 on; older models match by order. */
const idOf = (call: Call, { target }: TranslateContext): { readonly id?: string } =>
  target.facts.generation === "g3" ? { id: call.id } : {}

const callPart = (call: Call, signature: string | undefined, context: TranslateContext, names: ToolNames): PartOut => ({
  functionCall: { name: names.mangle(call.name), args: call.args, ...idOf(call, context) },
  ...(signature === undefined ? {} : { thoughtSignature: signature })
})

/** One content of responses in the order of the calls, then one of media that responses cannot hold. */
const resultContents = (
  calls: ReadonlyArray<Call>,
  context: TranslateContext,
  names: ToolNames
): Read<ReadonlyArray<Content>> => {
  const responses: Array<PartOut> = []
  const apartFrom: Array<PartOut> = []
  for (const call of calls) {
    const result = (call.result ?? noResult).parts
    const media = partsToGemini(
      result.filter((part) => part._tag === "Media"),
      context.target
    )
    if (Result.isFailure(media)) return Result.fail(media.failure)
    const held = media.success.filter((part) => fitsResponse(part, context.target))
    for (const part of media.success) if (!held.includes(part)) apartFrom.push(part)
    responses.push({
      functionResponse: {
        name: names.mangle(call.name),
        response: parseResult(textOf(result)),
        ...idOf(call, context),
        ...(held.length === 0 ? {} : { parts: held.map(({ inlineData }) => ({ inlineData })) })
      }
    })
  }
  return Result.succeed([{ role: "user", parts: responses, isResults: true }, userContent(apartFrom)])
}

const finished = (
  contents: ReadonlyArray<Content>,
  texts: ReadonlyArray<PartOut>,
  { target }: TranslateContext
): GeminiMessages => {
  // Gemma has no system instruction: the texts stand first in the first user turn.
  const isGemma = target.facts.generation === "gemma"
  const preface = isGemma && texts.length > 0 ? [{ text: texts.map((part) => part.text ?? "").join("\n\n") }] : []
  const [first, ...rest] = contents
  const begun =
    first?.role === "user"
      ? [{ ...first, parts: [...preface, ...first.parts] }, ...rest]
      : [userContent(preface.length > 0 ? preface : [blank]), ...contents]
  const plain = begun.map((content): ContentOut => ({
    role: content.role,
    parts: target.facts.generation === "g1" && lacksWords(content) ? [...content.parts, blank] : content.parts
  }))
  return texts.length === 0 || isGemma ? { contents: plain } : { contents: plain, systemInstruction: { parts: texts } }
}

const blank: PartOut = { text: " " }

/** The first generation refuses media without a text beside it. */
const lacksWords = ({ role, parts, isResults }: Content): boolean =>
  role === "user" && !isResults && parts.every((part) => part.text === undefined)
