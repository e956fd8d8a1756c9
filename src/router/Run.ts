// One request on its way to its answer: its targets are called one after the other until one answers or none is left.
// It must not depend on how a target is prepared, or on whether the answer is complete or a stream.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { requireCredentials } from "../auth/carried.ts"
import type { AnswerFault } from "../domain/config/GatewayConfig.ts"
import { AllTargetsFailed, type GatewayError } from "../domain/GatewayError.ts"
import type { Operation } from "../domain/operations.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { CacheStatus, ObservedAttempt, Room } from "../domain/RequestContext.ts"
import type { Json } from "../domain/text/json.ts"
import type { PreparedCall } from "../provider/Provider.ts"
import type { ResponseCache } from "../state/ResponseCache.ts"
import { isLearnable } from "../translate/healing/refusals.ts"
import { labelled } from "../upstream/labelled.ts"
import type { MediaFetch } from "../upstream/MediaFetch.ts"
import type { Prepared } from "../upstream/Prepared.ts"
import type { AttemptTimes, AuthHeaders, SendLater, Upstream } from "../upstream/Upstream.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { cacheAsk, cached, type Keeping } from "./Cached.ts"
import { authorizeInTime, inTime, least, remainingMillis, type TimesOf } from "./Deadline.ts"
import { circuitOf, failureOf, refusedBy, resendOf, verdictOf } from "./failures.ts"
import { type Healing, healRefused } from "./heal.ts"
import { type AttemptState, firstAttempt, type Next, nextAttempt } from "./nextAttempt.ts"
import type { Plan, Planned } from "./plan.ts"
import { type Attempt, type AttemptServices, fetchMedia, type LoadMedia, prepareAttempt } from "./PrepareAttempt.ts"
import type { ClientRequest, PlanServices } from "./RequestPlan.ts"
import type { RetryBudget } from "./retryBudgets.ts"
import { withFailureWords } from "./shownAttempt.ts"

export interface RouterServices extends AttemptServices, PlanServices {
  readonly upstream: Upstream["Service"]
  readonly cache: ResponseCache["Service"]
  /** The most characters of a stream that the cache takes. */
  readonly longestCached: number
  /** Undefined: no media are fetched. */
  readonly media: MediaFetch | undefined
  readonly timesOf: TimesOf
  readonly budgetOf: (caller: string, slug: string) => RetryBudget
}

/** Reserves what a further call of a long answer costs: its prompt is billed again. */
export type AdmitMore = (
  target: { readonly slug: string; readonly modelId: string },
  promptTokens: number
) => Effect.Effect<void, GatewayError>

/** The attempt that answered, and its answer. */
export interface Answered<Op extends Operation, A> {
  readonly attempt: Attempt<Op>
  readonly value: A
  readonly retryCount: number
  readonly cache: CacheStatus
}

/** What an authorised call is sent with. */
export interface Sending {
  readonly auth: AuthHeaders
  readonly times: AttemptTimes
  readonly room: Room | undefined
  /** Makes the later calls of a long answer; undefined for an answer of one call. */
  readonly later: SendLater | undefined
}

/** An answer, and what is wrong with it. */
export type Judged<A> = readonly [value: A, fault: AnswerFault | undefined]

/** The later calls of a long answer are retried after a pause only, because the log does not show each of them. */
const laterAttempt: AttemptState = { ...firstAttempt, resent: -1 }

export abstract class Run<Op extends Operation, A, R> {
  protected readonly services: RouterServices
  protected readonly client: ClientRequest<Op>
  private readonly plan: Plan
  private readonly admitMore: AdmitMore | undefined
  private readonly budget: RetryBudget
  private readonly loadMedia: LoadMedia | undefined
  private readonly unhealed: Healing
  private state = firstAttempt
  /** The attempt at the current target; undefined until it is prepared. */
  private attempt: Attempt<Op> | undefined
  private healing: Healing

  /** `admitMore`: undefined for a key without limits. */
  constructor(services: RouterServices, client: ClientRequest<Op>, plan: Plan, admitMore: AdmitMore | undefined) {
    const { budgetOf, limits, media } = services
    const { context } = client
    this.services = services
    this.client = client
    this.plan = plan
    this.admitMore = admitMore
    this.budget = budgetOf(context.key.id, plan[0].account.slug)
    this.loadMedia = media === undefined ? undefined : fetchMedia(media, limits, context)
    this.unhealed = { left: context.unsupported === "reject" ? 0 : limits.heals, lessons: [], applied: [] }
    this.healing = this.unhealed
  }

  /** Sends a call that is authorised. */
  protected abstract send(call: PreparedCall<Op>, sending: Sending): Effect.Effect<A, ProviderError, R>
  /** How the cache keeps an answer; made only where the cache is asked. */
  protected abstract keeping(): Keeping<A>
  /** Asked only where a config gives faulty answers to another target. */
  protected abstract judge(answer: A): Effect.Effect<Judged<A>, ProviderError, R>

  /** The answer of the first target that gives one. Runs once. */
  protected firstAnswer(): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    this.budget.request(this.client.context.startedMillis)
    return this.step()
  }

  private get planned(): Planned {
    return this.plan[this.state.target] ?? this.plan[0]
  }

  /** One call, and after a failure the next step. */
  private step(): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    const { attempt } = this
    const answered =
      attempt === undefined
        ? Effect.flatMapEager(prepareAttempt(this.services, this.client, this.planned, this.loadMedia), (prepared) => {
            this.attempt = prepared
            return this.call(prepared)
          })
        : this.call(attempt)
    return Effect.catch(answered, (error) =>
      Effect.clockWith((clock) => this.afterFailure(error, clock.currentTimeMillisUnsafe()))
    )
  }

  /** The changed call of a known refusal, the same target after a pause, another target, or the end. */
  private afterFailure(failure: GatewayError, nowMillis: number): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    const error = this.heal(failure)
    if (error === undefined) return this.step()
    const next = this.next(this.plan, this.state, error, nowMillis)
    if (next._tag === "Done") return Effect.fail(this.lastError(error))
    this.state = next.state
    this.attempt = undefined
    this.healing = this.unhealed
    return next._tag === "Attempt" ? this.step() : Effect.flatMap(this.pause(next, nowMillis), () => this.step())
  }

  /** Changes the attempt by the lessons of its refusal; the failure where none helps. */
  private heal(failure: GatewayError): GatewayError | undefined {
    const { attempt } = this
    if (attempt === undefined) return failure
    const healed = healRefused(attempt, failure, this.healing, () =>
      attempt.learns === undefined
        ? []
        : this.services.learned.recall(attempt.learns, this.client.context.startedMillis)
    )
    if (Result.isFailure(healed)) return healed.failure
    this.attempt = { ...attempt, ...healed.success.change }
    this.healing = healed.success.healing
    return undefined
  }

  private next(plan: Plan, state: AttemptState, error: GatewayError, nowMillis: number): Next {
    const { draw, limits } = this.services
    const { context, operation } = this.client
    const targets = plan.map(({ edges, target }) => ({ retry: target?.retry, edges }))
    const moment = {
      nowMillis,
      deadlineMillis: context.deadlineMillis,
      random: draw(),
      isAffordable: this.budget.isAffordable(nowMillis)
    }
    return nextAttempt(targets, state, failureOf(error, operation), moment, limits)
  }

  private pause({ millis }: Extract<Next, { _tag: "Wait" }>, nowMillis: number): Effect.Effect<void> {
    this.budget.retry(nowMillis)
    return millis === 0 ? Effect.void : Effect.sleep(millis)
  }

  /** Adds the facts that the headers of an answer need and a single failure lacks. A refusal before any call stays as it is. */
  private lastError(error: GatewayError): GatewayError {
    const { calls, retries, target: place, targets } = this.state
    const ask = this.cacheAsk()
    const target = this.plan[place]?.target
    if (error._tag === "AllTargetsFailed") return error
    if (calls === 1 && (error._tag !== "ProviderError" || (target === undefined && ask === undefined))) return error
    const cache = ask === undefined ? "DISABLED" : ask.refresh ? "REFRESH" : "MISS"
    return new AllTargetsFailed({ last: error, targets, optionIndex: target?.index ?? 0, retryCount: retries, cache })
  }

  private cacheAsk() {
    return cacheAsk(this.client.context.cache, this.planned.target?.cache, this.services.limits.cacheSeconds)
  }

  /** Calls a prepared target: within its circuit, and through the cache where the request or its config asks. */
  private call(attempt: Attempt<Op>): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    const { cache, catalog } = this.services
    const { context } = this.client
    const { resent, retries: retryCount, target } = this.state
    const ask = this.cacheAsk()
    const answered = Effect.flatMapEager(
      this.timesNow(attempt),
      (times): Effect.Effect<Answered<Op, A>, GatewayError, R> => {
        const sent = this.recorded(attempt, resent === target ? { ...times, isFresh: true } : times)
        const call = Effect.mapError(this.judged(this.guarded(sent)), (error) =>
          withFailureWords(error, {
            account: attempt.account,
            modelId: attempt.prepared.target.modelId,
            models: (context.catalog ?? catalog).models,
            isOperator: context.key.scopes.includes("admin")
          })
        )
        return ask === undefined
          ? Effect.map(call, (value) => ({ attempt, value, retryCount, cache: "DISABLED" }))
          : Effect.map(cached(cache, ask, context, attempt, this.keeping(), call), ([value, status]) => ({
              attempt,
              value,
              retryCount,
              cache: status
            }))
      }
    )
    return this.healing === this.unhealed ? answered : Effect.tap(answered, () => this.learn(attempt))
  }

  /** A changed call that succeeds teaches later requests. */
  private learn({ learns }: Attempt<Op>): Effect.Effect<void> {
    const { applied, lessons } = this.healing
    this.client.context.recorder?.healed(lessons.map(({ row }) => row))
    return learns === undefined ? Effect.void : this.services.learned.learn(learns, applied.filter(isLearnable))
  }

  private timesNow({ account }: Attempt<Op>): Effect.Effect<AttemptTimes, ProviderError> {
    return this.services.timesOf(account, this.planned.target?.times, this.client.context, this.client.stream)
  }

  /** The call within the circuit of its target, or the call alone for a target without one. */
  private guarded(call: Effect.Effect<A, GatewayError, R>): Effect.Effect<A, GatewayError, R> {
    const { planned } = this
    const { key, recorder } = this.client.context
    const circuit = circuitOf(planned, key)
    if (circuit === undefined) return call
    return this.services.circuits.guard(
      circuit,
      call,
      (cause) => verdictOf(circuit.rule, Cause.findErrorOption(cause)),
      (why) => {
        if (planned.target !== undefined) recorder?.passedOver(planned.target.index)
        return refusedBy(planned.account.slug, why)
      }
    )
  }

  /** Fails with an answer that a fallback edge of the target gives to the next one; others pass. */
  private judged(call: Effect.Effect<A, GatewayError, R>): Effect.Effect<A, GatewayError, R> {
    const { account, edges } = this.planned
    if (edges.every(({ answers }) => answers === undefined)) return call
    return Effect.flatMap(call, (answer) =>
      Effect.flatMap(this.judge(answer), ([value, fault]) =>
        fault === undefined || !edges.some(({ answers }) => answers?.has(fault) === true)
          ? Effect.succeed(value)
          : Effect.fail(answerError(account.slug, fault))
      )
    )
  }

  /** Sends an attempt. The recorder of the request takes notes of it. */
  private recorded(attempt: Attempt<Op>, times: AttemptTimes): Effect.Effect<A, GatewayError, R> {
    const sendable = requireCredentials(attempt.account)
    if (Result.isFailure(sendable)) return Effect.fail(sendable.failure)
    const { recorder, room } = this.client.context
    const sent = (observed: ObservedAttempt | undefined) => {
      const later = attempt.prepared.hops === undefined ? undefined : this.laterCalls(attempt, observed)
      return this.sent(attempt, times, observed, (call, auth, now) =>
        this.send(call, { auth, times: now, room, later })
      )
    }
    if (recorder === undefined) return sent(undefined)
    return Effect.suspend(() => {
      const observed = recorder.attempt(labelled(attempt.prepared), this.client)
      return Effect.matchEffect(sent(observed), {
        onFailure: (error) => {
          observed.failed(error)
          return Effect.fail(error)
        },
        onSuccess: (answer) => {
          observed.answered(answer)
          return Effect.succeed(answer)
        }
      })
    })
  }

  /** Authorises a call and sends it, and sends it again where a new token or other signatures may help. */
  private sent<B, R2>(
    attempt: Attempt<Op>,
    times: AttemptTimes,
    observed: ObservedAttempt | undefined,
    send: (call: PreparedCall<Op>, auth: AuthHeaders, times: AttemptTimes) => Effect.Effect<B, ProviderError, R2>,
    call: PreparedCall<Op> = attempt.prepared,
    isRenewed = false
  ): Effect.Effect<B, ProviderError, R2> {
    const { account, provider } = attempt
    const authorised = this.authorised(attempt, times, observed, (auth, now) => send(call, auth, now))
    return Effect.catch(authorised, (error) => {
      const resend = resendOf(error, call, isRenewed)
      if (resend === undefined) return Effect.fail(error)
      if (resend !== "renewed")
        return this.sent(attempt, times, observed, send, withBody(call, resend.unsigned()), false)
      return Effect.flatMap(inTime(account, this.client.context, provider.refresh(account)), (isNew) =>
        isNew ? this.sent(attempt, times, observed, send, call, true) : Effect.fail(error)
      )
    })
  }

  /** Authorises a call and sends it once. */
  private authorised<B, R2>(
    { account, provider }: Attempt<Op>,
    times: AttemptTimes,
    observed: ObservedAttempt | undefined,
    send: (auth: AuthHeaders, times: AttemptTimes) => Effect.Effect<B, ProviderError, R2>
  ): Effect.Effect<B, ProviderError, R2> {
    const { context } = this.client
    const { tls } = account
    const observedTimes = observed === undefined && tls === undefined ? times : { ...times, observed, tls }
    const authorised = authorizeInTime(account, provider, context)
    const noted =
      // A credential that is a header itself takes no time.
      observed === undefined || Exit.isExit(authorised)
        ? authorised
        : Effect.tap(authorised, () => Effect.sync(() => observed.authorized()))
    return Effect.flatMapEager(noted, (auth) => {
      const headers = observed?.headers === undefined ? auth : { ...auth, ...observed.headers }
      return context.deadlineMillis === undefined
        ? send(headers, observedTimes)
        : Effect.flatMap(remainingMillis(account, context), (left) =>
            send(headers, { ...observedTimes, totalMillis: least(times.totalMillis, left) })
          )
    })
  }

  /** Each later call of a long answer is admitted under the budget of the key, authorised and retried by itself (M-604, M-606). */
  private laterCalls(attempt: Attempt<Op>, observed: ObservedAttempt | undefined): SendLater {
    return (usage, send) => {
      const call = Effect.flatMap(this.timesNow(attempt), (times) =>
        this.sent(attempt, times, observed, (_first, auth, now) => send(auth, now))
      )
      const retried = this.retriedLater({ ...this.planned, edges: [] }, call, laterAttempt)
      return this.admitMore === undefined
        ? retried
        : Effect.andThen(this.admitMore(attempt.prepared.target, promptOf(usage)), retried)
    }
  }

  /** A later call is retried at its own target, and never sent to another. */
  private retriedLater<B, R2>(
    planned: Planned,
    call: Effect.Effect<B, ProviderError, R2>,
    state: AttemptState
  ): Effect.Effect<B, ProviderError, R2> {
    return Effect.catch(call, (error) =>
      Effect.clockWith((clock) => {
        const nowMillis = clock.currentTimeMillisUnsafe()
        const next = this.next([planned], state, error, nowMillis)
        return next._tag === "Wait"
          ? Effect.flatMap(this.pause(next, nowMillis), () => this.retriedLater(planned, call, next.state))
          : Effect.fail(error)
      })
    )
  }
}

/** Each hop is billed for the prompt that the first hop counted, and for the answer so far. */
const promptOf = (usage: Usage | undefined): number => usage?.total_tokens ?? 0

/** The call with a body without signatures, which is printed. */
const withBody = <Out, Chunk>(call: Prepared<Out, Chunk>, body: Json): Prepared<Out, Chunk> => {
  const { bytes: _replaced, unsigned: _done, ...rest } = call
  return { ...rest, body }
}

const faultWords = { refusal: "The model refused to answer.", empty: "The model gave an empty answer." } as const

const answerError = (slug: string, fault: AnswerFault): ProviderError =>
  new ProviderError({
    slug,
    upstreamStatus: 200,
    reason: { _tag: "BadReply", kind: fault === "refusal" ? "refusal" : "no_answer", message: faultWords[fault] }
  })
