// `model-gateway usage` and `requests` on a store: the table, JSON, CSV, filters and faults.
// Must not check how requests are stored.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { afterAll, beforeAll, expect, it } from "vitest"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { RequestRow } from "../../src/domain/RequestRow.ts"
import { parseStoreUrl } from "../../src/domain/settings/storeLocation.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"
import { database } from "../../src/store/database/Migrations.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import { commandLine } from "../support/commandLine.ts"
import { type RowFacts, rowOf } from "../support/requestRows.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-usage-"))
const file = join(folder, "gateway.yaml")
afterAll(() => rmSync(folder, { recursive: true }))

const day = 24 * 3_600_000
const row = (at: number, more: Partial<RowFacts>): RequestRow =>
  rowOf({
    endedMillis: Date.parse("2027-01-31T12:00:00Z") + at,
    requestId: `r${at}`,
    traceId: "t",
    route: "/v1/chat/completions",
    status: 200,
    provider: "google",
    model: "m",
    target: 0,
    attempts: [],
    stream: false,
    cache: "DISABLED",
    durationMillis: 10,
    ttftMillis: undefined,
    overheadMillis: 1,
    usage: undefined,
    costMicros: undefined,
    keyId: "ci",
    errorCode: undefined,
    ...more
  })
const used = {
  input: 1000,
  output: 100,
  cached: 10,
  cacheWritten: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageOutput: 0,
  images: 0
}

beforeAll(async () => {
  writeFileSync(
    file,
    "store: { url: sqlite:./gateway.db }\nkeys: [{ name: ci, key: mgk_sekret0 }]\ntelemetry: { usage_metadata: [team] }\n"
  )
  const location = Result.getOrThrow(parseStoreUrl(`sqlite:${folder}/gateway.db`))
  const layer = UsageLog.layer.pipe(
    Layer.provide(RequestTable.layer),
    Layer.provide(database(location)),
    Layer.provide(Layer.succeed(Limits, defaultLimits))
  )
  const filled = Effect.gen(function* () {
    const log = yield* UsageLog
    log.append(row(0, { usage: used, costMicros: 100_000, client: "curl", metadata: { team: "red" } }), "m")
    log.append(row(1, { keyId: undefined, client: "=cmd", status: 503, errorCode: "x" }), "m")
    log.append(row(day, { usage: used, costMicros: 200_000, config: "fast" }), "n")
  })
  await Effect.runPromise(Effect.provide(filled, layer))
})

const usage = async (...words: ReadonlyArray<string>) => {
  const { code, err, out } = await commandLine(["usage", "--config", file, ...words])
  return [code, err, out]
}

it("usage prints a table with the total", async () => {
  expect(await usage("--by", "day,key")).toEqual([
    0,
    "",
    [
      "day         key  key_name  requests  errors  input_tokens  output_tokens  cached_tokens  cost_usd",
      "2027-01-31  -    -         1         1       0             0              0              0",
      "2027-01-31  ci   ci        1         0       1000          100            10             0.1",
      "2027-02-01  ci   ci        1         0       1000          100            10             0.2",
      "total                      3         1       2000          200            20             0.3",
      ""
    ].join("\n")
  ])
})

it("usage --json prints the rows of the admin API", async () => {
  const [code, err, out] = await usage("--json", "--by", "model,metadata.team", "--metadata", "team=red")
  expect([code, err, JSON.parse(String(out))]).toEqual([
    0,
    "",
    [
      {
        model: "m",
        "metadata.team": "red",
        requests: 1,
        errors: 0,
        input_tokens: 1000,
        output_tokens: 100,
        cached_tokens: 10,
        cost_usd: 0.1
      }
    ]
  ])
})

it("usage --csv prints lines for a spreadsheet, without formulas of clients", async () => {
  expect(await usage("--csv", "--by", "client", "--to", "2027-01-31")).toEqual([
    0,
    "",
    [
      "client,requests,errors,input_tokens,output_tokens,cached_tokens,cost_usd",
      "'=cmd,1,1,0,0,0,0",
      "curl,1,0,1000,100,10,0.1",
      ""
    ].join("\r\n")
  ])
  expect(await usage("--csv", "--bucket", "day", "--from", "2027-02-01T00:00:00Z")).toEqual([
    0,
    "",
    [
      "start,requests,errors,input_tokens,output_tokens,cached_tokens,cost_usd,duration_ms",
      "2027-02-01T00:00:00.000Z,1,0,1000,100,10,0.2,10",
      ""
    ].join("\r\n")
  ])
})

it("usage names the flag that is wrong", async () => {
  expect([
    await usage("--by", "week"),
    await usage("--from", "yesterday"),
    await usage("--csv", "--json"),
    await usage("--metadata", "user=u1")
  ]).toEqual([
    [2, "--by is any of day, key, provider, model, config, client, metadata.team, joined by commas.\n", ""],
    [2, "--from is a day, such as 2027-01-31.\n", ""],
    [2, "--csv and --json exclude each other\n", ""],
    [2, '--metadata has a name that is not counted: add "user" to telemetry.usage_metadata.\n', ""]
  ])
})

const requests = async (...words: ReadonlyArray<string>) => {
  const { code, err, out } = await commandLine(["requests", "--config", file, ...words])
  return [code, err, out]
}

it("requests prints the newest requests as a table, the last one first", async () => {
  expect(await requests()).toEqual([
    0,
    "",
    [
      "ts                        status  duration_ms  provider  model  key  input_tokens  output_tokens  cost_usd  error_code  request_id",
      "2027-02-01T12:00:00.000Z  200     10           google    m      ci   1000          100            0.2       -           r86400000",
      "2027-01-31T12:00:00.001Z  503     10           google    m      -    -             -              -         x           r1",
      "2027-01-31T12:00:00.000Z  200     10           google    m      ci   1000          100            0.1       -           r0",
      ""
    ].join("\n")
  ])
})

it("requests takes the filters of the admin API, and names the flag of a wrong one", async () => {
  const idsOf = async (...words: ReadonlyArray<string>) => {
    const { code, err, out } = await commandLine(["requests", "--config", file, "--json", ...words])
    expect([code, err]).toEqual([0, ""])
    const rows: ReadonlyArray<{ readonly request_id: string }> = JSON.parse(out)
    return rows.map(({ request_id: id }) => id)
  }
  expect([
    await idsOf("--limit", "1"),
    await idsOf("--status", "503"),
    await idsOf("--key", "ci", "--model", "m"),
    await idsOf("--since", "2027-01-31T12:00:00.001Z"),
    await idsOf("--until", "2027-01-31T12:00:00.001Z"),
    await idsOf("--use-config", "fast"),
    await idsOf("--metadata", "team=red"),
    await idsOf("--request-id", "r1")
  ]).toEqual([["r86400000"], ["r1"], ["r86400000", "r0"], ["r86400000", "r1"], ["r0"], ["r86400000"], ["r0"], ["r1"]])
  expect([
    await requests("--limit", "2000"),
    await requests("--metadata", "user=x"),
    await requests("--request-id", "a\u0007")
  ]).toEqual(
    [
      [2, "", "--limit is a whole number from 1 to 1000."],
      [2, "", '--metadata has a name that is not counted: add "user" to telemetry.usage_metadata.'],
      [2, "", "--request-id is a name of at most 256 characters, without control characters."]
    ].map(([code, out, err]) => [code, `${err}\n`, out])
  )
})

it("requests delete removes requests of the store, and its sums stay", async () => {
  // The other tests read the rows.
  const copy = mkdtempSync(join(tmpdir(), "gateway-usage-"))
  cpSync(folder, copy, { recursive: true })
  const config = join(copy, "gateway.yaml")
  const remove = async (...words: ReadonlyArray<string>) => {
    const { code, err, out } = await commandLine(["requests", "delete", "--config", config, ...words])
    return [code, err, out]
  }
  expect(await remove("--key", "ci", "--before", "2027-02-01T00:00:00Z", "--json")).toEqual([
    0,
    "",
    expect.stringMatching(/"requests": 1,\s+"contents": 0/)
  ])
  expect(await remove("--key", "nobody")).toEqual([0, "", "deleted 0 requests, and the content of 0\n"])
  expect(await remove()).toEqual([
    2,
    "--before is required, or key or user is: requests are not deleted all together.\n",
    ""
  ])
  const { out } = await commandLine(["usage", "--config", config, "--json", "--by", "key"])
  expect(JSON.parse(out).map(({ requests: count }: { readonly requests: number }) => count)).toEqual([1, 2])
  rmSync(copy, { recursive: true })
})
