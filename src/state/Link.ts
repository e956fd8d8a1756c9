// A link between two processes: each side asks the other and answers its asks, over messages of plain JSON.
// Must not know what is asked, or how the processes were started.
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { isJsonObject } from "../domain/text/json.ts"

/** The other process is gone, does not answer within `limits.linkMillis`, or did not answer an earlier ask. */
export class LinkLost extends Data.TaggedError("LinkLost")<{ readonly cause: unknown }> {}

/** What one side can be asked is a record of calls by name. Asks and answers are values of JSON. */
export interface Call<Ask, Answer> {
  readonly ask: Ask
  readonly answer: Answer
}
export type AskOf<One> = One extends Call<infer Ask, unknown> ? Ask : never
type AnswerOf<One> = One extends Call<unknown, infer Answer> ? Answer : never

/** The answers of one side. Each begins in the order in which the asks were sent. */
export type Handlers<Mine> = {
  readonly [Name in keyof Mine]: (ask: AskOf<Mine[Name]>) => Effect.Effect<AnswerOf<Mine[Name]>>
}

/** One end of a channel of messages. */
export interface Port {
  /** `failed` runs when the message cannot be sent. */
  readonly send: (message: object, failed: (cause: unknown) => void) => void
  /** Calls the listener for each message until the returned function runs. */
  readonly listen: (listener: (message: unknown) => void) => () => void
}

export interface Link<Theirs> {
  readonly ask: <Name extends keyof Theirs & string>(
    name: Name,
    ask: AskOf<Theirs[Name]>
  ) => Effect.Effect<AnswerOf<Theirs[Name]>, LinkLost>
  /** The same without an answer. A message that cannot be sent is dropped. */
  readonly tell: <Name extends keyof Theirs & string>(name: Name, ask: AskOf<Theirs[Name]>) => void
  /**
   * True once an ask had no answer in time and nothing else has arrived since it was sent, until a message arrives. Asks
   * fail immediately meanwhile. Messages that were sent before wait in the channel, so their late answers end the outage.
   */
  readonly isAway: () => boolean
  /** Pings the other side, waits for `beatMillis`, and succeeds with whether any message has arrived meanwhile. */
  readonly beat: Effect.Effect<boolean>
}

/** Shorter than `limits.linkMillis`, so that a side that works is heard while a slow ask of it waits. */
export const beatMillis = 500

const drop = (): void => undefined

/** The asks of one side: those that wait for an answer, and whether the other side is heard. */
const makeAsks = (port: Port, { linkMillis, linkQueue }: LimitValues) => {
  const waiting = new Map<number, (answer: Effect.Effect<unknown, LinkLost>) => void>()
  const late = `no answer within ${linkMillis} ms`
  let last = 0
  let received = 0
  let isAway = false
  /** The number of messages before the last ping: nothing else is sent to a side that has not answered it. */
  let pingedAt = -1

  const lost = (cause: unknown) => Effect.fail(new LinkLost({ cause }))
  const failAll = (cause: string): void => {
    for (const resume of waiting.values()) resume(lost(cause))
  }
  const send = (name: string, value: unknown): Effect.Effect<unknown, LinkLost> =>
    Effect.callback((resume) => {
      const id = ++last
      waiting.set(id, (answer) => {
        waiting.delete(id)
        resume(answer)
      })
      port.send({ id, name, value }, (cause) => waiting.get(id)?.(lost(cause)))
      return Effect.sync(() => void waiting.delete(id))
    })
  return {
    failAll,
    isAway: () => isAway,
    heard: (): void => {
      received++
      isAway = false
    },
    answered: (id: unknown, answer: unknown, failure: unknown): void => {
      const resume = typeof id === "number" ? waiting.get(id) : undefined
      resume?.(failure === undefined ? Effect.succeed(answer) : lost(failure))
    },
    ask: (name: string, value: unknown): Effect.Effect<unknown, LinkLost> =>
      Effect.suspend(() => {
        if (isAway) return lost("no answer to an earlier ask")
        if (waiting.size >= linkQueue) return lost("too many asks wait")
        const before = received
        return Effect.timeoutOrElse(send(name, value), {
          duration: linkMillis,
          orElse: () => {
            if (received === before) {
              isAway = true
              failAll(late)
            }
            return lost(late)
          }
        })
      }),
    beat: Effect.suspend(() => {
      const before = received
      if (pingedAt !== before) port.send({ ping: true }, drop)
      pingedAt = before
      return Effect.map(Effect.sleep(beatMillis), () => received !== before)
    })
  }
}

/** A link in one process. The scope ends it; asks that wait then fail. */
export const makeLink = Effect.fnUntraced(function* <Mine, Theirs>(
  port: Port,
  handlers: Handlers<Mine>
): Effect.fn.Return<Link<Theirs>, never, Scope.Scope> {
  const limits = yield* Limits
  const inbox = yield* Queue.dropping<Readonly<Record<string, unknown>>>(limits.linkQueue)
  const { answered, ask, beat, failAll, heard, isAway } = makeAsks(port, limits)

  const receive = (message: unknown): void => {
    if (!isJsonObject(message)) return
    heard()
    if (message["ping"] === true) return port.send({ pong: true }, drop)
    if (typeof message["name"] === "string") return void Queue.offerUnsafe(inbox, message)
    answered(message["id"], message["value"], message["failed"])
  }
  const handle = ({ id, name, value }: Readonly<Record<string, unknown>>): Effect.Effect<void> => {
    // The other side is a process of the same program, so its message has the type of the call.
    const handler = handlers[name as keyof Mine] as ((ask: unknown) => Effect.Effect<unknown>) | undefined
    const answer = handler === undefined ? Effect.die(`no call ${String(name)}`) : handler(value)
    return id === undefined
      ? Effect.asVoid(Effect.exit(answer))
      : Effect.matchCause(answer, {
          onSuccess: (result) => port.send({ id, value: result ?? null }, drop),
          onFailure: (cause) => port.send({ id, failed: String(cause) }, drop)
        })
  }
  const next = Effect.flatMap(Queue.take(inbox), (message) =>
    Effect.forkScoped(handle(message), { startImmediately: true })
  )
  yield* Effect.forkScoped(Effect.forever(next), { startImmediately: true })
  yield* Effect.acquireRelease(
    Effect.sync(() => port.listen(receive)),
    (stop) =>
      Effect.sync(() => {
        stop()
        failAll("the link has ended")
      })
  )
  return {
    // The other side answers by the handlers of the same program, so the answer has the type of the call.
    ask: <Name extends keyof Theirs & string>(name: Name, value: AskOf<Theirs[Name]>) =>
      ask(name, value) as Effect.Effect<AnswerOf<Theirs[Name]>, LinkLost>,
    tell: (name, value) => port.send({ name, value }, drop),
    isAway,
    beat
  }
})
