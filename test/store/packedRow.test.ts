// Tests packed request rows, alone and in batches: unpacking returns the row, with times to the microsecond.
// Must not depend on a database.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import type { AttemptRow, RequestRow } from "../../src/domain/RequestRow.ts"
import { packRow, unpackRow } from "../../src/store/packedRow.ts"
import { RequestBatch } from "../../src/store/RequestBatch.ts"

const maybe = <A>(one: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> => fc.option(one, { nil: undefined })
const millis = fc.nat(10_000_000).map((micros) => micros / 1000)
const count = fc.nat(2 ** 31 - 1)

const attempt: fc.Arbitrary<AttemptRow> = fc.record({
  provider: fc.string(),
  model: fc.string(),
  target: count,
  startedMillis: millis,
  durationMillis: millis,
  tokenMillis: maybe(millis),
  sentMillis: maybe(millis),
  firstChunkMillis: maybe(millis),
  errorCode: maybe(fc.string()),
  errorMessage: maybe(fc.string()),
  upstreamStatus: maybe(fc.integer({ min: 100, max: 599 }))
})

const fact: fc.Arbitrary<RequestRow> = fc.record({
  endedMillis: fc.nat(),
  requestId: fc.string(),
  id: maybe(fc.string()),
  traceId: fc.string(),
  route: fc.string(),
  status: count,
  provider: maybe(fc.string()),
  model: maybe(fc.string()),
  target: maybe(count),
  attempts: fc.array(attempt),
  stream: fc.boolean(),
  cache: maybe(fc.string()),
  durationMillis: millis,
  ttftMillis: maybe(millis),
  overheadMillis: millis,
  usage: maybe(
    fc.record({
      input: count,
      output: count,
      cached: count,
      cacheWritten: count,
      reasoning: count,
      audioInput: count,
      audioOutput: count,
      imageOutput: count,
      images: count
    })
  ),
  isEstimated: maybe(fc.constant(true as const)),
  skipped: maybe(fc.array(fc.nat(99), { minLength: 1 })),
  costMicros: maybe(fc.nat(Number.MAX_SAFE_INTEGER)),
  saved: maybe(fc.record({ input: count, output: count, costMicros: maybe(count) })),
  keyId: maybe(fc.string()),
  config: maybe(fc.string()),
  client: maybe(fc.string()),
  metadata: maybe(fc.dictionary(fc.stringMatching(/^[a-z-]{1,8}$/), fc.string())),
  ignored: maybe(fc.array(fc.string(), { minLength: 1 })),
  adjusted: maybe(fc.array(fc.string(), { minLength: 1 })),
  errorCode: maybe(fc.string()),
  errorMessage: maybe(fc.string())
})
const row = fc
  .tuple(fact, maybe(fc.string()))
  .map(([one, errorParam]): RequestRow => (one.errorMessage === undefined ? one : { ...one, errorParam }))

it("packed rows: unpacking returns the packed row", () => {
  fc.assert(
    fc.property(row, (one) => {
      expect(unpackRow(JSON.parse(packRow(one)))).toEqual(one)
    })
  )
})

it("request batches: the text is one array of the added rows in order, for any characters", () => {
  const named = fc
    .record({ row, traceId: fc.string({ unit: "binary" }) })
    .map(({ row: one, traceId }): RequestRow => ({ ...one, traceId }))
  fc.assert(
    fc.property(fc.array(named, { maxLength: 40 }), (rows) => {
      const batch = new RequestBatch()
      for (const [at, one] of rows.entries()) {
        batch.add(one, { model: "m", client: "", metadata: "{}" })
        expect(JSON.parse(batch.text).map(unpackRow)).toEqual(rows.slice(0, at + 1))
      }
      expect(batch.bytes.equals(Buffer.from(batch.text))).toBe(true)
      expect(batch.rows).toBe(rows.length)
    }),
    { numRuns: 30 }
  )
})

it("packed rows: times keep microseconds, in a text of at most 200 characters", () => {
  const plain: RequestRow = {
    endedMillis: 1,
    requestId: "r",
    traceId: "t",
    route: "/v1/messages",
    status: 200,
    provider: "google",
    model: "m",
    target: 0,
    attempts: [
      {
        provider: "google",
        model: "m",
        target: 0,
        startedMillis: 0,
        durationMillis: 1.2345678,
        firstChunkMillis: undefined,
        errorCode: undefined,
        upstreamStatus: undefined
      }
    ],
    stream: false,
    cache: "DISABLED",
    durationMillis: 2.0004999,
    ttftMillis: undefined,
    overheadMillis: 0.7659321,
    keyId: "k",
    usage: {
      input: 3,
      output: 5,
      cached: 0,
      cacheWritten: 0,
      reasoning: 0,
      audioInput: 0,
      audioOutput: 0,
      imageOutput: 0,
      images: 0
    },
    costMicros: 7,
    errorCode: undefined
  }
  const text =
    '[1,"r",200,"google","m","k","t","/v1/messages",0,false,"DISABLED",2000,null,766,[3,5,0,0,0,0,0,0,0],7,null,[["google","m",0,1235,null,null,null,0]]]'
  const read = unpackRow(JSON.parse(text))
  expect([packRow(plain), read.durationMillis, read.attempts[0]?.durationMillis]).toEqual([text, 2, 1.235])
})
