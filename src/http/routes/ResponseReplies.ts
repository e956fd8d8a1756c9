// Writes the answer of a chat as a response, or as the events of one, and keeps it before the client learns that it is whole.
// It must not depend on how the chat was run. Rules: R411, R501-R517, R611, R701, R703, R709.
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { chatUsage } from "../../operations/usage.ts"
import type { ErrorFacts } from "../../api/errorFacts.ts"
import { Limits } from "../../domain/Limits.ts"
import type { ServedBy } from "../../domain/RequestContext.ts"
import type { Explained, OpenedStream } from "../../router/ProviderRouter.ts"
import { digestOfText } from "../../store/Carriers.ts"
import { ResponseStore } from "../../store/ResponseStore.ts"
import {
  type AnswerFailed,
  type AnswerFinished,
  type AnswerOutput,
  type ChatInput,
  isFinished,
  lastEvent,
  responseFromChat,
  stampResponse,
  streamFromChat
} from "../../translate/responses-to-chat/response.ts"
import type { AnswerFacts } from "../../translate/responses-to-chat/facts.ts"
import { frame, pingFrame } from "../../wire/frames.ts"
import type { ChatChunk, Usage } from "../../wire/openai/ChatReply.ts"
import type { ResponseObject, ResponsesEvent } from "../../wire/openai/Responses.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { eventStream } from "../response/StreamReply.ts"
import { countOutput } from "../response/renderChunk.ts"
import { answer } from "../response/Reply.ts"
import { withEnding } from "../response/responseHeaders.ts"
import type { OperationAnswers } from "./OperationRoute.ts"
import type { Turn } from "./ReadTurn.ts"
import { metrics } from "../../telemetry/metrics.ts"
import { SeriesRegistry } from "../../telemetry/Series.ts"
import { keptContent } from "../../translate/responses-to-chat/kept.ts"

// Keeps whole answers of the Responses API before the client learns that they are whole, and counts those that are not kept.

/** The answer as it goes out; `promised`: a stream has shown before whether it will be kept. */
export type KeepResponse = (turn: Turn, finished: AnswerFinished, promised: boolean) => Effect.Effect<ResponseObject>

/** Built once per route. */
const keepingResponses: Effect.Effect<KeepResponse, never, ResponseStore> = Effect.gen(function* () {
  const store = yield* ResponseStore
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  // A series begins with its first event.
  const cut = () => registry.counter(metrics.carriersCut, {})
  const unstored = (reason: "too_large" | "unavailable") => registry.counter(metrics.responsesUnstored, { reason })

  /** Whether the client may take it for kept. */
  const keep = ({ context, id, plan }: Turn, finished: AnswerFinished, response: ResponseObject, promised: boolean) =>
    Effect.match(
      store.keep({
        id,
        keyId: context.key.id,
        status: response.status === "incomplete" ? "incomplete" : "completed",
        previousId: plan.echo.previous_response_id ?? undefined,
        content: keptContent(response, finished, plan)
      }),
      {
        onSuccess: (isKept) => {
          if (!isKept) unstored("too_large").add(1)
          return isKept
        },
        onFailure: () => {
          unstored("unavailable").add(1)
          return promised
        }
      }
    )

  return (turn, finished, promised) =>
    Effect.clockWith((clock) => {
      if (finished.cut > 0) cut().add(1)
      const seconds = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
      const stamped = (isKept: boolean) => stampResponse(finished, { seconds, isKept })
      return turn.plan.keep
        ? Effect.map(keep(turn, finished, stamped(true), promised), stamped)
        : Effect.succeed(stamped(false))
    })
})

// Writes the answer of a chat as a response, or as the events of one.

/** What was left without effect, in the client's words: by this route, then by the target. */
export const ignoredInTurn = (
  { ignored }: Pick<Turn, "ignored">,
  ofTarget: ReadonlyArray<string>
): ReadonlyArray<string> => [...ignored, ...ofTarget]

export const explainedInTurn = (shown: Explained, turn: Pick<Turn, "ignored">): Explained => ({
  ...shown,
  ignored_params: ignoredInTurn(turn, shown.ignored_params)
})

const failedBy = ({ code, headers, message, param, type }: ErrorFacts): AnswerFailed => {
  const wait = Number(headers["retry-after-ms"])
  return {
    _tag: "AnswerFailed",
    type,
    code,
    message,
    param,
    retryAfterMillis: Number.isFinite(wait) ? wait : undefined
  }
}

const eventFrame = (event: ResponsesEvent): string => frame(JSON.stringify(event), event.type)

/** The events of one answer while its chunks come; the whole answer is held back until it is kept. */
class EventWriter {
  private readonly fold: ReturnType<typeof streamFromChat>
  private state: ReturnType<ReturnType<typeof streamFromChat>["initial"]>
  finished: AnswerFinished | undefined
  private isEnded = false

  constructor(facts: AnswerFacts) {
    this.fold = streamFromChat(facts)
    this.state = this.fold.initial()
  }

  read(input: ChatInput): string {
    const [state, outputs] = this.fold.step(this.state, input)
    this.state = state
    return this.write(outputs)
  }

  /** Every finish reason has come, so that nothing but counts can be missing. */
  get isWhole(): boolean {
    return this.state.finish !== undefined
  }

  /** `usage` stands for the chunk with the counts where that did not come. */
  halt(usage: Usage | undefined): string {
    if (usage !== undefined && this.state.usage === undefined) this.state = { ...this.state, usage }
    return this.write(this.fold.onHalt(this.state))
  }

  last(answer: AnswerFinished, response: ResponseObject): string {
    this.isEnded = true
    return eventFrame(lastEvent(answer, response))
  }

  /** The end of a stream that broke; nothing where its last event is out. */
  fail(failure: AnswerFailed): string {
    return this.isEnded ? "" : this.read(failure)
  }

  private write(outputs: ReadonlyArray<AnswerOutput>): string {
    let text = ""
    for (const output of outputs) {
      if (isFinished(output)) this.finished = output
      else text += eventFrame(output)
    }
    return text
  }
}

/** Built once per route. */
export const responseReplies: Effect.Effect<OperationAnswers<"chat", Turn>, never, ResponseStore> = Effect.gen(
  function* () {
    const keep = yield* keepingResponses
    const { responseCarrierBytes } = yield* Limits

    const factsOf = ({ carriers, context, id, plan }: Turn, { issuer }: ServedBy): AnswerFacts => ({
      id,
      createdSeconds: context.createdSeconds,
      plan,
      issuer,
      seal: carriers.seal,
      digest: digestOfText,
      carrierBytes: responseCarrierBytes
    })

    const streamed = (turn: Turn, opened: OpenedStream<ChatChunk>, incoming: IncomingRequest) => {
      const { recorder } = incoming
      const writer = new EventWriter(factsOf(turn, opened.served))
      const events = Stream.mapArray(opened.chunks, (chunks) => {
        recorder?.read(chunks)
        if (recorder !== undefined) for (const chunk of chunks) countOutput(recorder, chunk)
        return Arr.map(chunks, (chunk) => writer.read(chunk))
      })
      // Counts and the close of the connection follow the finish; an answer without them is whole (L7).
      const whole = Stream.catch(events, (error) => (writer.isWhole ? Stream.empty : Stream.fail(error)))
      const last = Effect.suspend(() => {
        const text = writer.halt(opened.usage())
        const { finished } = writer
        return finished === undefined
          ? Effect.succeed(text)
          : Effect.map(keep(turn, finished, true), (response) => text + writer.last(finished, response))
      })
      const served = { ...opened.served, ignored: ignoredInTurn(turn, opened.served.ignored) }
      return eventStream({ ...opened, served, chunks: Stream.concat(whole, Stream.fromEffect(last)) }, incoming, {
        ping: pingFrame,
        render: (read) => read.join(""),
        ending: "",
        errorFrame: (facts) => writer.fail(failedBy(facts))
      })
    }

    return {
      reply: (completion, served, turn, incoming) =>
        Effect.flatMap(keep(turn, responseFromChat(completion, factsOf(turn, served)), false), (response) =>
          answer(
            response,
            { ...withEnding(served, completion.model_status), ignored: ignoredInTurn(turn, served.ignored) },
            chatUsage(completion.usage),
            incoming
          )
        ),
      stream: {
        isAsked: ({ stream }) => stream === true,
        reply: (opened, turn, incoming) => streamed(turn, opened, incoming)
      },
      explained: explainedInTurn
    }
  }
)
