// Measures the CPU time that accounting adds to a request: `node test/bench/accounting.ts`. No sockets, no upstream.
// Must not be compared with figures of other machines. Run it before and after a change.
import "effect/schema/SchemaJITCompiler/enable"
import { Writable } from "node:stream"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { Prices } from "../../src/catalog/Prices.ts"
import {
  Accounting,
  accountingLayer,
  type AccountingOptions,
  type RouteAccounts
} from "../../src/accounting/Accounting.ts"
import type { RequestMeta } from "../../src/accounting/RequestRecord.ts"
import { ContentStore } from "../../src/store/ContentStore.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"
import type { ServedBy } from "../../src/domain/RequestContext.ts"
import { LogSink } from "../../src/telemetry/LogWriter.ts"
import { chatUsage } from "../../src/operations/usage.ts"

const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })

const meta: RequestMeta = {
  requestId: "01a1feb1-fd44-7fb5-884a-aa19e8c22cad",
  traceId: "01a1feb1fd447fb5884aaa19e8c22cad",
  startedMillis: Date.now(),
  freshId: "01a1feb1-fd44-7fb5-884a-aa19e8c22cad",
  headers: {}
}
const served: ServedBy = {
  slug: "google",
  kind: "google",
  modelId: "gemini-3.8-flash",
  issuer: "gemini/google",
  optionIndex: 0,
  retryCount: 0,
  cache: "DISABLED",
  ignored: []
}
const call = {
  url: "https://generativelanguage.googleapis.com/",
  body: {},
  ignored: [],
  target: {
    slug: "google",
    kind: "google",
    modelId: "gemini-3.8-flash",
    operation: "chat",
    optionIndex: 0,
    issuer: "gemini/google"
  }
} as const
const whole = { request: undefined, stream: false, context: { metadata: {} } }
const streamed = { ...whole, stream: true }
const usage = {
  prompt_tokens: 1000,
  completion_tokens: 100,
  total_tokens: 1100,
  prompt_tokens_details: { cached_tokens: 200 }
}

/** The accounting work of one request. */
const request = (accounts: RouteAccounts): Effect.Effect<void> => {
  const record = accounts.open()
  record.keyId = "ci"
  record.attempt(call, whole).answered(undefined)
  record.answered(served, chatUsage(usage))
  record.status = 200
  return accounts.close(record, meta, false)
}

const stream = (accounts: RouteAccounts, reads: number): Effect.Effect<void> => {
  const record = accounts.open()
  record.attempt(call, streamed).answered(undefined)
  record.opened(
    served,
    () => chatUsage(usage),
    () => ({ isCounted: true, characters: 0 })
  )
  for (let at = 0; at < reads; at++) record.wrote(1)
  return accounts.close(record, meta, false)
}

const micros = (rounds: number, run: () => void): number => {
  for (let at = 0; at < rounds; at++) run()
  const started = performance.now()
  for (let at = 0; at < rounds; at++) run()
  return ((performance.now() - started) * 1000) / rounds
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 200))

const measured = async (name: string, options: AccountingOptions): Promise<void> => {
  const layer = accountingLayer(options).pipe(
    Layer.provide([
      Prices.layerWith({}).pipe(Layer.provide(Catalog.layerMemory([]))),
      UsageLog.layerMemory,
      ContentStore.layerMemory
    ]),
    Layer.provide(Layer.succeed(LogSink, nowhere))
  )
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const accounts = Context.get(yield* Layer.build(layer), Accounting)?.route("POST", "/v1/chat/completions")
        if (accounts === undefined) return
        yield* request(accounts)
        const round = async (): Promise<readonly [number, number]> => {
          const whole = micros(20_000, () => void request(accounts))
          await pause()
          const reads = 1_000
          const read =
            (micros(100, () => void stream(accounts, reads)) - micros(100, () => void stream(accounts, 1))) /
            (reads - 1)
          await pause()
          return [whole, read]
        }
        const rounds: Array<readonly [number, number]> = []
        for (let at = 0; at < 9; at++) rounds.push(yield* Effect.promise(round))
        const median = (of: 0 | 1): string =>
          (rounds.map((one) => one[of]).toSorted((a, b) => a - b)[4] ?? 0).toFixed(3)
        console.log(`${name.padEnd(40)} ${median(0)} us a request   ${median(1)} us a read of a stream`)
      })
    )
  )
}

await measured("metrics and cost", {
  log: { format: "off", level: "info" },
  content: "off",
  keep: false,
  propagate: false,
  byKey: false,
  countedMetadata: [],
  endUser: "hashed",
  warns: false
})
await measured("and a line of JSON", {
  log: { format: "json", level: "info" },
  content: "off",
  keep: false,
  propagate: false,
  byKey: false,
  countedMetadata: [],
  endUser: "hashed",
  warns: false
})
await measured("and the list for the admin API", {
  log: { format: "json", level: "info" },
  content: "off",
  keep: true,
  propagate: false,
  byKey: false,
  countedMetadata: [],
  endUser: "hashed",
  warns: false
})
