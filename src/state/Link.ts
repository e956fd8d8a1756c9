// A link between two processes: each side asks the other and answers its asks, over messages of plain JSON.
// Must not know what is asked, or how the processes were started.
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import { isJsonObject } from "../domain/text/json.ts"

/** The other process is gone, or does not answer within `limits.linkMillis`. */
export class LinkLost extends Data.TaggedError("LinkLost")<{ readonly cause: unknown }> {}

/** What one side can be asked is a record of calls by name. Asks and answers are values of JSON. */
export interface Call<Ask, Answer> {
  readonly ask: Ask
  readonly answer: Answer
}
type AskOf<One> = One extends Call<infer Ask, unknown> ? Ask : never
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
}

/** A link in one process. The scope ends it; asks that wait then fail. */
export const makeLink = Effect.fnUntraced(function* <Mine, Theirs>(
  port: Port,
  handlers: Handlers<Mine>
): Effect.fn.Return<Link<Theirs>, never, Scope.Scope> {
  const { linkMillis, linkQueue } = yield* Limits
  const waiting = new Map<number, (answer: Effect.Effect<unknown, LinkLost>) => void>()
  const inbox = yield* Queue.dropping<Readonly<Record<string, unknown>>>(linkQueue)
  let last = 0

  const receive = (message: unknown): void => {
    if (!isJsonObject(message)) return
    if (typeof message["name"] === "string") return void Queue.offerUnsafe(inbox, message)
    const { id, failed, value } = message
    const resume = typeof id === "number" ? waiting.get(id) : undefined
    resume?.(failed === undefined ? Effect.succeed(value) : Effect.fail(new LinkLost({ cause: failed })))
  }
  const drop = (): void => undefined
  const handle = ({ id, name, value }: Readonly<Record<string, unknown>>): Effect.Effect<void> => {
    // The other side is a process of the same program, so its message has the type of the call.
    const handler = handlers[name as keyof Mine] as ((ask: unknown) => Effect.Effect<unknown>) | undefined
    const answered = handler === undefined ? Effect.die(`no call ${String(name)}`) : handler(value)
    return id === undefined
      ? Effect.asVoid(Effect.exit(answered))
      : Effect.matchCause(answered, {
          onSuccess: (answer) => port.send({ id, value: answer ?? null }, drop),
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
        for (const resume of waiting.values()) resume(Effect.fail(new LinkLost({ cause: "the link has ended" })))
      })
  )

  const ask = (name: string, value: unknown): Effect.Effect<unknown, LinkLost> =>
    Effect.callback<unknown, LinkLost>((resume) => {
      if (waiting.size >= linkQueue) return resume(Effect.fail(new LinkLost({ cause: "too many asks wait" })))
      const id = ++last
      waiting.set(id, (answer) => {
        waiting.delete(id)
        resume(answer)
      })
      port.send({ id, name, value }, (cause) => waiting.get(id)?.(Effect.fail(new LinkLost({ cause }))))
      return Effect.sync(() => void waiting.delete(id))
    }).pipe(
      Effect.timeoutOrElse({
        duration: linkMillis,
        orElse: () => Effect.fail(new LinkLost({ cause: `no answer within ${linkMillis} ms` }))
      })
    )
  return {
    // The other side answers by the handlers of the same program, so the answer has the type of the call.
    ask: <Name extends keyof Theirs & string>(name: Name, value: AskOf<Theirs[Name]>) =>
      ask(name, value) as Effect.Effect<AnswerOf<Theirs[Name]>, LinkLost>,
    tell: (name, value) => port.send({ name, value }, drop)
  }
})
