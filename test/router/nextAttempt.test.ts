// Tests the decision after a failed attempt: a retry and its delay, another target, or the end.
// Must not depend on clocks, on HTTP or on upstream calls.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  BodyInvalid,
  BodyTooLarge,
  CredentialsMissing,
  type GatewayError,
  UnsupportedOperation
} from "../../src/domain/GatewayError.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { ProviderError, type Reason } from "../../src/domain/ProviderError.ts"
import { errorFacts } from "../../src/api/errorFacts.ts"
import { type AttemptFailure, failureOf } from "../../src/router/failures.ts"
import {
  type AttemptState,
  firstAttempt,
  type RetryMoment,
  type Next,
  nextAttempt,
  type Trying
} from "../../src/router/nextAttempt.ts"
import { RetryBudget, retryBudgets } from "../../src/router/retryBudgets.ts"

const message = "What is wrong."
const reasons: ReadonlyArray<Reason> = [
  { _tag: "InvalidRequest", message },
  { _tag: "ToolMixRejected", message },
  { _tag: "SignatureRejected", message },
  { _tag: "ContextTooLong", message },
  { _tag: "PayloadTooLarge", message },
  { _tag: "CredentialsRejected", message, origin: "caller" },
  { _tag: "PermissionDenied", message },
  { _tag: "ModelNotFound", message },
  { _tag: "RateLimited", message },
  { _tag: "QuotaExhausted", message },
  { _tag: "Overloaded", message, code: "upstream_unavailable" },
  { _tag: "Internal", message, status: 500 },
  { _tag: "Timeout", message, phase: "total" },
  { _tag: "Transport", message, kind: "refused" },
  { _tag: "BadReply", message, kind: "empty" },
  { _tag: "CircuitOpen", message }
]
const of = (reason: Reason, upstreamStatus?: number): AttemptFailure =>
  failureOf(new ProviderError({ slug: "a", reason, ...(upstreamStatus === undefined ? {} : { upstreamStatus }) }))
const overloaded = of({ _tag: "Overloaded", message, code: "upstream_unavailable" }, 503)
const limited = (retryAfterMillis?: number) =>
  of({ _tag: "RateLimited", message, ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }) }, 429)
const invalid = of({ _tag: "InvalidRequest", message }, 400)
const timedOut = of({ _tag: "Timeout", message, phase: "first_byte" })
const gone = of({ _tag: "ModelNotFound", message }, 404)
const stale = of({ _tag: "Transport", message, kind: "stale" })
const untrusted = of({ _tag: "Transport", message, kind: "tls" })

describe("status codes of a failure", () => {
  it("failure codes: contain the gateway's own status and the upstream's", () => {
    for (const reason of reasons)
      expect(of(reason).codes).toContain(errorFacts(new ProviderError({ slug: "a", reason })).status)
    expect(of({ _tag: "Internal", message, status: 500 }, 500).codes).toEqual([500, 500, 502])
    expect(of({ _tag: "Overloaded", message, code: "upstream_overloaded" }, 529).codes).toEqual([529, 503])
  })
  it("failure codes: an error inside a 200 counts by its reported status", () =>
    expect(of({ _tag: "Overloaded", message, code: "upstream_unavailable" }, 200).codes).toEqual([503]))
  it("failure codes: a timer of the gateway is 504, and 408 in Portkey's format", () =>
    expect(timedOut.codes).toEqual([504, 408]))
  it("failure codes: a request that one target cannot take counts as invalid there", () => {
    const errors: ReadonlyArray<readonly [GatewayError, ReadonlyArray<number>, AttemptFailure["retry"]]> = [
      [new UnsupportedOperation({ message }), [400], "never"],
      [new BodyInvalid({ code: "invalid_value", param: "n", message }), [400], "never"],
      [new BodyTooLarge({ limitBytes: 1, param: null }), [413], "never"],
      [new CredentialsMissing({ message }), [401], "next"]
    ]
    for (const [error, codes, retry] of errors)
      expect(failureOf(error)).toEqual({ codes, retry, adviceMillis: undefined })
  })
})

const usual: Trying = { retry: undefined, edges: [] }
const moment: RetryMoment = { nowMillis: 1_000, deadlineMillis: undefined, random: 0.5, isAffordable: true }
const next = (
  failure: AttemptFailure,
  {
    more = {},
    plan = [usual],
    state = firstAttempt
  }: {
    readonly plan?: ReadonlyArray<Trying>
    readonly state?: AttemptState
    readonly more?: Partial<RetryMoment>
  } = {}
): Next => nextAttempt(plan, state, failure, { ...moment, ...more }, defaultLimits)
const waits = (millis: number, state: Partial<AttemptState> = {}): Next => ({
  _tag: "Wait",
  millis,
  state: { ...firstAttempt, retries: 1, calls: 2, waitedMillis: millis, ...state }
})
const done: Next = { _tag: "Done" }

describe("retries (S11)", () => {
  it("retries: wait by full jitter below a bound that doubles from 0.5 s to 8 s (S11)", () => {
    expect(next(overloaded)).toEqual(waits(250))
    expect(next(overloaded, { more: { random: 0 } })).toEqual(waits(0))
    const plan = [{ retry: { attempts: 5, codes: undefined, patient: false }, edges: [] }]
    const bounds = [0, 1, 2, 3, 4].map((retries) => {
      const step = next(overloaded, { plan, state: { ...firstAttempt, retries }, more: { random: 0.999_999 } })
      return step._tag === "Wait" ? step.millis + 1 : 0
    })
    expect(bounds).toEqual([500, 1_000, 2_000, 4_000, 8_000])
  })
  it("retries: a call on a socket that had closed is sent again immediately, once, in addition to the allowed ones (F25)", () => {
    const again = { retries: 1, calls: 2, resent: 0 }
    const none: Trying = {
      retry: { attempts: 0, codes: undefined, patient: false },
      edges: [{ to: 1, codes: undefined }]
    }
    expect(next(stale)).toEqual(waits(0, again))
    expect(next(stale, { plan: [none, usual] })).toEqual(waits(0, again))
    const resent = { ...firstAttempt, ...again }
    expect(next(stale, { plan: [none, usual], state: resent })._tag).toBe("Attempt")
    const usually = [1, 2, 3].map((retries) => next(stale, { state: { ...resent, retries } }))
    expect(usually.map((step) => (step._tag === "Wait" ? step.millis : step._tag))).toEqual([250, 500, "Done"])
    expect(next(stale, { plan: [none, usual], more: { isAffordable: false } })._tag).toBe("Attempt")
    expect(next(stale, { more: { isAffordable: false } })).toEqual(done)
  })
  it("retries: are at most two by default (S11)", () => {
    expect([0, 1, 2].map((retries) => next(overloaded, { state: { ...firstAttempt, retries } })._tag)).toEqual([
      "Wait",
      "Wait",
      "Done"
    ])
  })
  it("retries: never follow a client error, whatever codes are listed (S11)", () => {
    const listed: Trying = {
      retry: { attempts: 5, codes: new Set([400, 401, 403, 404, 413, 429, 504]), patient: false },
      edges: []
    }
    for (const reason of reasons) {
      const { status } = errorFacts(new ProviderError({ slug: "a", reason }))
      if (status < 414) expect([reason._tag, next(of(reason), { plan: [listed] })]).toEqual([reason._tag, done])
    }
    expect(next(invalid)).toEqual(done)
  })
  it("retries: follow the listed codes and no others (S11)", () => {
    const listed = (...codes: ReadonlyArray<number>) => [
      { retry: { attempts: 1, codes: new Set(codes), patient: false }, edges: [] }
    ]
    expect(next(timedOut)).toEqual(done)
    expect(next(timedOut, { plan: listed(408) })).toEqual(waits(250))
    expect(next(overloaded, { plan: listed(429) })).toEqual(done)
    expect(next(untrusted, { plan: listed(502) })).toEqual(done)
    expect(
      next(overloaded, { plan: [{ retry: { attempts: 0, codes: undefined, patient: false }, edges: [] }] })
    ).toEqual(done)
  })
  it("retries: wait as long as the upstream asks, and up to a quarter more, if that is short enough (F18)", () => {
    expect(next(limited(1_000), { more: { random: 0 } })).toEqual(waits(1_000))
    expect(next(limited(1_000), { more: { random: 0.999_999 } })).toEqual(waits(1_250))
    expect(next(limited(2_000), { more: { random: 0 } })).toEqual(waits(2_000))
    expect(next(limited(7_000))).toEqual(done)
    expect(next(limited())).toEqual(waits(250))
  })
  it("retries: wait longer where the config allows it, up to a minute in all (S11)", () => {
    const plan = [{ retry: { attempts: 5, codes: undefined, patient: true }, edges: [] }]
    const at = (advice: number, waitedMillis = 0) =>
      next(limited(advice), { plan, more: { random: 0 }, state: { ...firstAttempt, waitedMillis } })
    expect(at(60_000)).toEqual(waits(60_000))
    expect([at(60_001), at(1_000, 59_001)]).toEqual([done, done])
  })
  it("retries: are not started where the deadline would pass (S12)", () => {
    expect(next(overloaded, { more: { deadlineMillis: 1_251 } })).toEqual(waits(250))
    expect(next(overloaded, { more: { deadlineMillis: 1_250 } })).toEqual(done)
  })
  it("retries: are not started beyond the retry budget of the traffic (TH27)", () =>
    expect(next(overloaded, { more: { isAffordable: false } })).toEqual(done))
})

describe("other targets", () => {
  const onwards = (...codes: ReadonlyArray<number>): Trying => ({
    retry: undefined,
    edges: [{ codes: codes.length === 0 ? undefined : new Set(codes), to: 1 }]
  })
  /** A target whose circuit is open is passed over, and not counted. */
  const uncalled: Next = { _tag: "Attempt", state: { ...firstAttempt, target: 1 } }
  const second: Next = { _tag: "Attempt", state: { ...firstAttempt, target: 1, calls: 2, targets: 2 } }
  it("fallback: is immediate where the config asks for no retries", () =>
    expect(next(overloaded, { plan: [onwards(), usual] })).toEqual(second))
  it("fallback: waits until the configured retries are spent", () => {
    const plan = [{ ...onwards(), retry: { attempts: 1, codes: undefined, patient: false } }, usual]
    expect(next(overloaded, { plan })).toEqual(waits(250))
    expect(next(overloaded, { plan, state: { ...firstAttempt, retries: 1, calls: 2, waitedMillis: 250 } })).toEqual({
      _tag: "Attempt",
      state: { target: 1, retries: 0, calls: 3, targets: 2, waitedMillis: 250, resent: undefined }
    })
    expect(next(overloaded, { plan, more: { isAffordable: false } })).toEqual(second)
  })
  it("fallback: follows the failures that another target may avoid", () => {
    for (const reason of reasons) {
      const failure = of(reason)
      const then = reason._tag === "CircuitOpen" ? uncalled : second
      expect(next(failure, { plan: [onwards(), usual] })).toEqual(failure.retry === "never" ? done : then)
    }
    expect(next(untrusted, { plan: [onwards(), usual] })).toEqual(done)
  })
  it("fallback: follows the listed codes and no others, client errors included", () => {
    expect(next(invalid, { plan: [onwards(400), usual] })).toEqual(second)
    expect(next(gone, { plan: [onwards(429), usual] })).toEqual(done)
    expect(next(timedOut, { plan: [onwards(408), usual] })).toEqual(second)
  })
  it("fallback: the innermost edge for the failure counts", () => {
    const plan = [
      {
        retry: undefined,
        edges: [
          { codes: new Set([429]), to: 1 },
          { codes: new Set([503]), to: 2 }
        ]
      },
      usual,
      usual
    ]
    expect(next(overloaded, { plan })).toMatchObject({ _tag: "Attempt", state: { target: 2 } })
    expect(next(limited(9_000), { plan })).toMatchObject({ _tag: "Attempt", state: { target: 1 } })
  })
  it("fallback: does not happen after the deadline", () =>
    expect(next(overloaded, { plan: [onwards(), usual], more: { deadlineMillis: 1_000 } })).toEqual(done))
})

describe("end of every plan (P15)", () => {
  it("plan: ends after at most targets x (1 + retries) calls (P15)", () => {
    const trying = (index: number, size: number): fc.Arbitrary<Trying> =>
      fc.record({
        retry: fc.option(
          fc.record({
            attempts: fc.integer({ min: 0, max: 5 }),
            codes: fc.option(fc.constant(new Set([429, 503])), { nil: undefined }),
            patient: fc.boolean()
          }),
          { nil: undefined }
        ),
        edges:
          index + 1 === size
            ? fc.constant([])
            : fc.array(
                fc.record({
                  codes: fc.option(fc.constantFrom(new Set([429]), new Set([400, 503])), { nil: undefined }),
                  to: fc.integer({ min: index + 1, max: size })
                }),
                { maxLength: 3 }
              )
      })
    const plans = fc
      .integer({ min: 1, max: 5 })
      .chain((size) => fc.tuple(...Array.from({ length: size }, (_, index) => trying(index, size))))
    const failures = fc.constantFrom(overloaded, limited(), limited(1_500), limited(30_000), invalid, timedOut, gone)
    fc.assert(
      fc.property(
        plans,
        fc.infiniteStream(failures),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        (plan, failing, chance) => {
          let state = firstAttempt
          let retries = 0
          const most = plan.reduce((sum, { retry }) => sum + 1 + (retry?.attempts ?? defaultLimits.retries), 0)
          for (;;) {
            const step = next(failing.next().value ?? overloaded, {
              plan,
              state,
              more: { random: chance.next().value ?? 0 }
            })
            if (step._tag === "Done") break
            if (step._tag === "Wait") retries++
            else expect(step.state.target).toBeGreaterThan(state.target)
            expect(step.state.calls).toBe(state.calls + 1)
            state = step.state
            expect(state.calls).toBeLessThanOrEqual(most)
          }
          expect([state.calls, state.waitedMillis <= defaultLimits.retryWaitMillis]).toEqual([
            state.targets + retries,
            true
          ])
        }
      ),
      { seed: 11 }
    )
  })
})

describe("budget of retries (TH27)", () => {
  it("retry budget: allows less than a fifth of the requests of the last ten seconds (TH27)", () => {
    const budget = new RetryBudget()
    for (let n = 0; n < 100; n++) budget.request(1_000 + n * 100)
    let borne = 0
    while (borne < 100 && budget.isAffordable(10_900)) {
      budget.retry(10_900)
      borne++
    }
    expect(borne).toBe(18)
    expect([budget.isAffordable(21_999), budget.isAffordable(22_000)]).toEqual([false, true])
  })
  it("retry budget: allows three with hardly any traffic (TH27)", () => {
    const budget = new RetryBudget()
    const borne = [0, 1, 2, 3].map(() => {
      const affordable = budget.isAffordable(5_000)
      if (affordable) budget.retry(5_000)
      return affordable
    })
    expect(borne).toEqual([true, true, true, false])
    expect([budget.isAffordable(16_000), budget.isAffordable(16_100)]).toEqual([false, true])
  })
  it("retry budget: keeps the calls of any ten seconds within 1.2 of the requests, when all fail (F19)", () => {
    const budget = new RetryBudget()
    const calls: Array<number> = []
    for (let n = 0; n < 4_000; n++) {
      const now = n * 10
      budget.request(now)
      calls.push(now)
      // Earlier successes do not add up to a burst of retries.
      if (n < 1_000) continue
      for (let retries = 0; retries < 2 && budget.isAffordable(now); retries++) {
        budget.retry(now)
        calls.push(now)
      }
    }
    for (let from = 0; from <= 30_000; from += 50) {
      expect(calls.filter((at) => at >= from && at < from + 10_000).length).toBeLessThanOrEqual(1_200)
    }
  })
  it("retry budget: is separate for each caller and each account (TH27)", () => {
    const budgetOf = retryBudgets()
    expect(budgetOf("a", "google")).toBe(budgetOf("a", "google"))
    expect(new Set([budgetOf("a", "google"), budgetOf("b", "google"), budgetOf("a", "vertex-ai")]).size).toBe(3)
  })
})
