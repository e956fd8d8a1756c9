// The work of a kept store: what one release writes to an empty store, what it does later, and all that it reads.
// Must not depend on the database. It uses the services of the store only, so that each release can run it.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { noUsage } from "../../src/operations/usage.ts"
import type { RequestRow } from "../../src/domain/RequestRow.ts"
import type { StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { dayMillis } from "../../src/domain/time.ts"
import type { UsageQuery } from "../../src/domain/usage/usageSums.ts"
import { ContentStore } from "../../src/store/ContentStore.ts"
import { masterKeysGiven } from "../../src/store/Encryption.ts"
import { Records } from "../../src/store/Records.ts"
import { RequestBatch } from "../../src/store/RequestBatch.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import { ResponseStore } from "../../src/store/ResponseStore.ts"
import { Spending, type SpendingChange } from "../../src/store/Spending.ts"
import { type RowFacts, rowOf } from "./requestRows.ts"
import * as Store from "../../src/store/Store.ts"
import type { RecordKind } from "../../src/store/StoredRecord.ts"

/** The master key of kept stores; it opens nothing else. */
export const keptKey = Buffer.alloc(32, 7).toString("base64")
const masters = masterKeysGiven([Redacted.make(keptKey)], "the key of kept stores")

/** Every service on this database, each with a connection of this layer. */
export const keptServices = (location: StoreLocation) =>
  Layer.mergeAll(
    RequestTable.layer,
    Spending.layer,
    ResponseStore.layer,
    ContentStore.layerWith({ isKept: true })
  ).pipe(Layer.provideMerge(Layer.fresh(Store.layer(location, masters))))

const actor = { id: "cli", requestId: undefined }
const firstMillis = Date.parse("2027-01-15T08:00:00Z")
const period = "2027-01"
const kinds: ReadonlyArray<RecordKind> = ["provider", "key", "config", "prompt"]

/** One row with every fact, and one with the few that a refused request has. */
export const rowsOf = (name: string, day: number): ReadonlyArray<RequestRow> => {
  const plain: RowFacts = {
    endedMillis: firstMillis + day * dayMillis,
    requestId: `${name}-refused`,
    traceId: `trace-${name}`,
    route: "/v1/chat/completions",
    status: 400,
    provider: undefined,
    model: undefined,
    target: undefined,
    attempts: [],
    stream: false,
    cache: undefined,
    durationMillis: 0.5,
    ttftMillis: undefined,
    overheadMillis: 0.5,
    usage: undefined,
    costMicros: undefined,
    keyId: "key_1",
    errorCode: "invalid_value",
    errorMessage: `${name} is "wrong"`,
    errorParam: "n"
  }
  const attempt = {
    provider: "google",
    model: "gemini-3.8-flash",
    target: 0,
    startedMillis: 1,
    durationMillis: 700,
    firstChunkMillis: 30,
    errorCode: undefined,
    errorMessage: undefined,
    upstreamStatus: 200
  }
  const { errorCode: _, errorMessage: _message, errorParam: _param, ...rest } = plain
  const answered: RowFacts = {
    ...rest,
    endedMillis: plain.endedMillis + 5,
    requestId: `${name}-answered`,
    id: `own-${name}`,
    status: 200,
    provider: "google",
    model: "gemini-3.8-flash",
    target: 0,
    attempts: [{ ...attempt, errorCode: "upstream_error", errorMessage: "busy", upstreamStatus: 503 }, attempt],
    stream: true,
    cache: "MISS",
    durationMillis: 712,
    ttftMillis: 42,
    overheadMillis: 2,
    usage: { ...noUsage, input: 100, output: 20, cached: 10 },
    costMicros: 1234,
    saved: { input: 1, output: 2, costMicros: 3 },
    config: "fast",
    client: "curl",
    metadata: { team: "red" },
    errorCode: undefined
  }
  return [rowOf(plain), rowOf(answered)]
}

export const batchOf = (rows: ReadonlyArray<RequestRow>): RequestBatch => {
  const batch = new RequestBatch()
  for (const row of rows) {
    const { client = "", metadata = {}, model = "" } = row
    batch.add(row, { model, client, metadata: JSON.stringify(metadata) })
  }
  return batch
}

const change = (more: Partial<SpendingChange>): SpendingChange => ({
  keyId: "key_1",
  period,
  budgetMicros: 1000,
  turn: 1,
  spentMicros: 0,
  wantedMicros: 0,
  ...more
})

const response = (id: string, previousId: string | undefined) => ({
  id,
  keyId: "key_1",
  status: "completed" as const,
  previousId,
  content: { output: [`answer of ${id}`] }
})

const keepContent = Effect.fnUntraced(function* (id: string) {
  const contents = yield* ContentStore
  const request = { text: `body of ${id}`, bytes: 10, isCut: false }
  contents.append({ id, keyId: "key_1", endedMillis: firstMillis, bytes: 100, read: () => ({ request, calls: [] }) })
  return yield* contents.find(id)
})

/** Fills the tables of an empty store. */
export const fillStore = Effect.gen(function* () {
  const records = yield* Records
  for (const kind of kinds) {
    const secret = kind === "provider" ? { secret: Redacted.make({ api_key: "simulated" }) } : {}
    yield* records.create(kind, `${kind}_1`, { value: { name: "first" }, ...secret }, actor)
    yield* records.create(kind, `${kind}_2`, { value: { name: "second" } }, actor)
    yield* records.update(kind, `${kind}_1`, { value: { name: "changed" } }, actor)
  }
  yield* records.remove("config", "config_2", actor)
  const table = yield* RequestTable
  for (const day of [0, 1]) yield* table.write(batchOf(rowsOf(`filled-${day}`, day)))
  yield* (yield* Spending).exchange([change({ spentMicros: 100, wantedMicros: 300 })])
  const responses = yield* ResponseStore
  yield* responses.keep(response("resp_1", undefined))
  yield* responses.keep(response("resp_2", "resp_1"))
  yield* keepContent("own-filled-0")
})

const usageQueries: ReadonlyArray<Omit<UsageQuery, "limit">> = [
  { groupBy: [] },
  { groupBy: ["day"] },
  { groupBy: ["day", "key"] },
  { groupBy: ["provider", "model"], from: "2027-01-15", to: "2027-12-31" },
  { groupBy: ["config", "client", "metadata.team"] },
  { groupBy: ["model"], where: [["key", "key_1"]] }
]

/** Everything that the store holds, as its services read it. */
export const readStore = Effect.gen(function* () {
  const { audit, changesSince, get, histories, page, revision } = yield* Records
  const table = yield* RequestTable
  const responses = yield* ResponseStore
  const contents = yield* ContentStore
  const limit = 100
  const read = {
    records: yield* Effect.forEach(kinds, (kind) =>
      Effect.all([page(kind, limit, undefined), histories(kind), Effect.map(get(kind, `${kind}_1`), ({ id }) => id)])
    ),
    secret: Redacted.value((yield* get("provider", "provider_1")).secret ?? Redacted.make({})),
    revision: yield* revision,
    changes: yield* changesSince(1),
    audit: yield* audit(limit, undefined),
    requests: yield* table.requests({ limit }),
    ofStatus: yield* table.requests({ limit, status: 400, key: "key_1" }),
    latest: yield* table.latest({ id: "own-filled-0", isOwn: true }),
    lastUsed: yield* table.lastUsed("key_1"),
    usage: yield* Effect.forEach(usageQueries, (query) => table.usage({ ...query, limit })),
    series: yield* Effect.forEach(["minute", "hour", "day"] as const, (bucket) =>
      Effect.forEach(["all", "key", "provider", "status", "error"] as const, (scope) =>
        table.series({ bucket, scope, limit })
      )
    ),
    top: yield* table.top({ bucket: "day", scope: "provider", top: "cost", limit }),
    spent: yield* (yield* Spending).spent("key_1", period),
    chain: yield* responses.chain("key_1", "resp_2"),
    content: yield* Effect.forEach(["own-filled-0", "own-used"], contents.find)
  }
  // As JSON, which is the form of the files: without absent facts and without what hides a secret in print.
  const text = JSON.stringify(read, (_, value: unknown) => (Redacted.isRedacted(value) ? "<redacted>" : value))
  return JSON.parse(text) as unknown
})

/** What a gateway does on a filled store: it changes and adds to every table. */
export const useStore = Effect.gen(function* () {
  const records = yield* Records
  yield* records.update("provider", "provider_1", { value: { name: "used" }, secret: Redacted.make({ k: "v" }) }, actor)
  yield* records.create("key", "key_used", { value: { name: "used" } }, actor)
  yield* records.remove("key", "key_2", actor)
  yield* records.note("read", "own-filled-0", actor)
  yield* (yield* RequestTable).write(batchOf(rowsOf("used", 1)))
  yield* (yield* Spending).exchange([change({ turn: 2, spentMicros: 50, wantedMicros: 200 })])
  const responses = yield* ResponseStore
  yield* responses.keep(response("resp_3", "resp_2"))
  yield* responses.remove("key_1", "resp_3")
  yield* responses.sweep
  yield* keepContent("own-used")
  yield* (yield* ContentStore).sweep
})
