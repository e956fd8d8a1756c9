// The tables of the store as the migrations make them, the same on SQLite and PostgreSQL.
// Must not know what the tables hold. A released migration never changes; each later change is a new migration.
//
// A release works on the store of the release before and of the one after, also while both run. So a migration from 13 on
// only adds: tables, indexes, columns with a default, columns of a view. What no release reads any more goes one release
// after the last that reads it. `test/store/versions.test.ts` runs the statements of the kept release on these tables.
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { requestRows } from "./RequestTables.ts"
import { onSqlite } from "./Sql.ts"

/** Column types by dialect. Names sort by their bytes on both; booleans are the integers 0 and 1. */
const words = (sql: SqlClient.SqlClient) => {
  const word = (sqlite: string, pg: string) => sql.literal(onSqlite(sql) ? sqlite : pg)
  return {
    word,
    integer: word("INTEGER", "BIGINT"),
    real: word("REAL", "DOUBLE PRECISION"),
    name: word("TEXT", 'TEXT COLLATE "C"'),
    bytes: word("BLOB", "BYTEA"),
    position: word("INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    end: word(") STRICT", ")")
  }
}

/** Records, their versions and the audit log, with one revision number; the keys that encrypt secrets. */
const records = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes, end, integer, name } = words(sql)
  yield* sql`CREATE TABLE revision (id ${integer} PRIMARY KEY CHECK (id = 1), number ${integer} NOT NULL ${end}`
  yield* sql`INSERT INTO revision (id, number) VALUES (1, 0)`
  yield* sql`CREATE TABLE records (
    kind ${name} NOT NULL, id ${name} NOT NULL, version ${integer} NOT NULL,
    created_millis ${integer} NOT NULL, updated_millis ${integer} NOT NULL,
    value TEXT NOT NULL, secret ${bytes}, secret_key_id ${name},
    PRIMARY KEY (kind, id) ${end}`
  yield* sql`CREATE INDEX records_by_secret_key ON records (secret_key_id)`
  yield* sql`CREATE TABLE record_versions (
    kind ${name} NOT NULL, id ${name} NOT NULL, version ${integer} NOT NULL,
    created_millis ${integer} NOT NULL, updated_millis ${integer} NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (kind, id, version) ${end}`
  yield* sql`CREATE TABLE audit_log (
    revision ${integer} PRIMARY KEY, at_millis ${integer} NOT NULL, actor TEXT NOT NULL, request_id TEXT,
    action TEXT NOT NULL, kind ${name} NOT NULL, id ${name} NOT NULL, version ${integer} NOT NULL ${end}`
  yield* sql`CREATE TABLE vault_keys (
    id ${name} PRIMARY KEY, master_id ${name} NOT NULL, wrapped ${bytes} NOT NULL,
    made_millis ${integer} NOT NULL, is_current ${integer} NOT NULL ${end}`
  yield* sql`CREATE TABLE vault_values (name ${name} PRIMARY KEY, value ${bytes} NOT NULL, value_key_id ${name} NOT NULL ${end}`
})

/** The request log, its sums, and the spending of keys. Money is in millionths of a US dollar. */
const accounting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name, position } = words(sql)
  yield* sql`CREATE TABLE requests (
    position ${position}, ended_millis ${integer} NOT NULL, request_id ${name} NOT NULL, status ${integer} NOT NULL,
    provider ${name}, model ${name}, key_id ${name}, row TEXT NOT NULL ${end}`
  yield* sql`CREATE INDEX requests_by_id ON requests (request_id)`
  yield* sql`CREATE INDEX requests_by_key ON requests (key_id, position)`
  yield* sql`CREATE TABLE usage_sums (
    day ${name} NOT NULL, key_id ${name} NOT NULL, provider ${name} NOT NULL, model ${name} NOT NULL,
    requests ${integer} NOT NULL, errors ${integer} NOT NULL, input ${integer} NOT NULL, output ${integer} NOT NULL,
    cached ${integer} NOT NULL, cost_micros ${integer} NOT NULL,
    PRIMARY KEY (day, key_id, provider, model) ${end}`
  yield* sql`CREATE TABLE spending (
    key_id ${name} NOT NULL, period ${name} NOT NULL, spent_micros ${integer} NOT NULL, updated_millis ${integer} NOT NULL,
    PRIMARY KEY (key_id, period) ${end}`
})

/** Leases: the parts of budgets that a process may spend without a round trip to the store. */
const leases = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name } = words(sql)
  yield* sql`CREATE TABLE spending_leases (
    key_id ${name} NOT NULL, period ${name} NOT NULL, holder ${name} NOT NULL, micros ${integer} NOT NULL,
    turn ${integer} NOT NULL, until_millis ${integer} NOT NULL, PRIMARY KEY (key_id, period, holder) ${end}`
})

/**
 * Requests are stored in batches. A row and two index entries per request took 10 % of the CPU time of a request. The view
 * `requests` shows one row per request to SQL clients. The sums have the time of the last use of a key, because they are
 * kept longer than the requests.
 */
const batches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, position } = words(sql)
  yield* sql`DROP TABLE requests`
  yield* sql`CREATE TABLE request_batches (position ${position}, rows_number ${integer} NOT NULL, packed TEXT NOT NULL ${end}`
  const [each, number] = onSqlite(sql)
    ? [sql.literal("json_each(batch.packed) AS fact"), sql.literal("fact.key")]
    : [
        sql.literal("json_array_elements(batch.packed::json) WITH ORDINALITY AS fact (value, number)"),
        sql.literal("fact.number - 1")
      ]
  yield* sql`CREATE VIEW requests AS SELECT
    batch.position AS batch, ${number} AS number, CAST(fact.value ->> 0 AS ${integer}) AS ended_millis, fact.value ->> 1 AS request_id,
    CAST(fact.value ->> 2 AS ${integer}) AS status, fact.value ->> 3 AS provider, fact.value ->> 4 AS model, fact.value ->> 5 AS key_id,
    fact.value AS packed FROM request_batches AS batch CROSS JOIN ${each}`
  yield* sql`ALTER TABLE usage_sums ADD COLUMN last_millis ${integer} NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX usage_sums_by_key ON usage_sums (key_id, last_millis)`
})

/** Responses that may be continued or asked for again. Their content is sealed; the other columns hold the owner and the expiry. */
const responses = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes, end, integer, name } = words(sql)
  yield* sql`CREATE TABLE responses (
    id ${name} PRIMARY KEY, key_id ${name} NOT NULL, created_millis ${integer} NOT NULL, expires_millis ${integer} NOT NULL,
    status ${name} NOT NULL, previous_id ${name}, bytes_number ${integer} NOT NULL,
    sealed ${bytes} NOT NULL, sealed_key_id ${name} NOT NULL ${end}`
  yield* sql`CREATE INDEX responses_by_key ON responses (key_id, created_millis)`
  yield* sql`CREATE INDEX responses_by_expiry ON responses (expires_millis)`
  yield* sql`CREATE INDEX responses_by_sealed_key ON responses (sealed_key_id)`
})

/** The view `requests` with every fact that reports ask for. Money is in US dollars, times are in milliseconds. */
const requestView = Effect.fnUntraced(function* (moreColumns: string) {
  const sql = yield* SqlClient.SqlClient
  const { integer, real, word } = words(sql)
  const each = word(
    "json_each(batch.packed) AS fact",
    "json_array_elements(batch.packed::json) WITH ORDINALITY AS fact (value, number)"
  )
  const endedAt = word(
    "strftime('%Y-%m-%dT%H:%M:%fZ', CAST(fact.value ->> 0 AS REAL) / 1000, 'unixepoch')",
    "to_timestamp(CAST(fact.value ->> 0 AS DOUBLE PRECISION) / 1000)"
  )
  yield* sql`DROP VIEW requests`
  yield* sql`CREATE VIEW requests AS SELECT
    batch.position AS batch, ${word("fact.key", "fact.number - 1")} AS number, CAST(fact.value ->> 0 AS ${integer}) AS ended_millis,
    ${endedAt} AS ended_at, fact.value ->> 1 AS request_id, COALESCE(fact.value ->> 18, fact.value ->> 1) AS id,
    fact.value ->> 6 AS trace_id, fact.value ->> 7 AS route, CAST(fact.value ->> 2 AS ${integer}) AS status,
    fact.value ->> 3 AS provider, fact.value ->> 4 AS model, fact.value ->> 5 AS key_id,
    ${word("fact.value ->> 9", "CAST(fact.value ->> 9 AS BOOLEAN)")} AS stream, fact.value ->> 10 AS cache,
    CAST(fact.value ->> 11 AS ${real}) / 1000 AS duration_millis, CAST(fact.value ->> 12 AS ${real}) / 1000 AS first_byte_millis,
    CAST(fact.value -> 14 ->> 0 AS ${integer}) AS input_tokens, CAST(fact.value -> 14 ->> 1 AS ${integer}) AS output_tokens,
    CAST(fact.value -> 14 ->> 2 AS ${integer}) AS cached_tokens, CAST(fact.value ->> 15 AS ${real}) / 1000000 AS cost_usd,
    fact.value ->> 16 AS error_code, fact.value ->> 19 AS error_message, fact.value ->> 20 AS error_param,
    ${sql.literal(moreColumns)}fact.value AS packed FROM request_batches AS batch CROSS JOIN ${each}`
})

/** A batch whose acknowledgement was lost is written again under its id, and counts once. Older versions write none. */
const batchIds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { name } = words(sql)
  yield* sql`ALTER TABLE request_batches ADD COLUMN batch_id ${name}`
  yield* sql`CREATE UNIQUE INDEX request_batches_by_id ON request_batches (batch_id)`
})

/** Usage over time: one row a bucket and value of a dimension, so that a chart reads only the points that it shows. */
const usageSeries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name } = words(sql)
  const bands = sql.literal(
    [0, 1, 2, 3, 4, 5, 6, 7].map((band) => `band_${band} ${onSqlite(sql) ? "INTEGER" : "BIGINT"} NOT NULL`).join(", ")
  )
  yield* sql`CREATE TABLE usage_series (
    bucket ${name} NOT NULL, scope ${name} NOT NULL, start_millis ${integer} NOT NULL, name ${name} NOT NULL,
    requests ${integer} NOT NULL, errors ${integer} NOT NULL, input ${integer} NOT NULL, output ${integer} NOT NULL,
    cached ${integer} NOT NULL, cost_micros ${integer} NOT NULL, duration_millis ${integer} NOT NULL, ${bands},
    PRIMARY KEY (bucket, scope, start_millis, name) ${end}`
})

/** Finer bands of durations, the time to the first token, the overhead and answers from the cache. */
const usageWaits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { integer } = words(sql)
  const add = (name: string) =>
    sql`ALTER TABLE usage_series ADD COLUMN ${sql.literal(name)} ${integer} NOT NULL DEFAULT 0`
  // What took at most 250 ms, and more than 30 s, stays one band in the rows of before.
  for (let band = 7; band >= 0; band--)
    yield* sql`ALTER TABLE usage_series RENAME COLUMN ${sql.literal(`band_${band}`)} TO ${sql.literal(`band_${band + 4}`)}`
  for (const band of [0, 1, 2, 3, 12, 13]) yield* add(`band_${band}`)
  for (let band = 0; band < 14; band++) yield* add(`first_${band}`)
  yield* add("overhead_micros")
  yield* add("hits")
})

/** Captured content of requests: sealed, found by the gateway's own id of the request, gone when it expires. */
const contents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes, end, integer, name } = words(sql)
  yield* sql`CREATE TABLE request_contents (
    id ${name} PRIMARY KEY, ended_millis ${integer} NOT NULL, expires_millis ${integer} NOT NULL,
    bytes_number ${integer} NOT NULL, sealed ${bytes} NOT NULL, sealed_key_id ${name} NOT NULL ${end}`
  yield* sql`CREATE INDEX request_contents_by_end ON request_contents (ended_millis)`
  yield* sql`CREATE INDEX request_contents_by_expiry ON request_contents (expires_millis)`
  yield* sql`CREATE INDEX request_contents_by_sealed_key ON request_contents (sealed_key_id)`
})

/** Without the lock, requests that another gateway adds between the read and the write are missing from the copy. */
const lockSums = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!onSqlite(sql)) yield* sql`LOCK TABLE usage_sums IN SHARE ROW EXCLUSIVE MODE`
})

/**
 * Sums of days by every dimension, and the same facts in the view. Sums from before have no config, client and metadata.
 */
const usageDetails = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name } = words(sql)
  yield* lockSums
  yield* sql`CREATE TABLE usage_details (
    day ${name} NOT NULL, key_id ${name} NOT NULL, provider ${name} NOT NULL, model ${name} NOT NULL,
    config ${name} NOT NULL, client ${name} NOT NULL, metadata ${name} NOT NULL,
    requests ${integer} NOT NULL, errors ${integer} NOT NULL, input ${integer} NOT NULL, output ${integer} NOT NULL,
    cached ${integer} NOT NULL, cost_micros ${integer} NOT NULL,
    PRIMARY KEY (day, key_id, provider, model, config, client, metadata) ${end}`
  yield* sql`INSERT INTO usage_details SELECT day, key_id, provider, model, '', '', '{}',
    requests, errors, input, output, cached, cost_micros FROM usage_sums`
  yield* requestView(
    "fact.value ->> 22 AS config, fact.value ->> 23 AS client, NULLIF(CAST(fact.value -> 24 AS TEXT), 'null') AS metadata, "
  )
})

/**
 * The days of `usage_series` get the sums of `usage_sums`, because reports by one dimension are read there. It lacks the
 * days before the table existed, and the oldest day, which was deleted earlier.
 */
const seriesDays = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { integer, word } = words(sql)
  yield* lockSums
  const start = word("strftime('%s', day)", "EXTRACT(EPOCH FROM CAST(day AS DATE))")
  const sums = ["requests", "errors", "input", "output", "cached", "cost_micros"]
  const bands = [4, 5, 6, 7, 8, 9, 10, 11]
  const columns = [...sums, "duration_millis", ...bands.map((band) => `band_${band}`)].join(", ")
  const values = [...sums.map((name) => `SUM(${name})`), "0", ...bands.map(() => "0")].join(", ")
  const same = sums.map((name) => `${name} = excluded.${name}`).join(", ")
  for (const [scope, name] of [
    ["all", "''"],
    ["key", "key_id"],
    ["provider", "provider"],
    ["model", "model"]
  ] as const)
    yield* sql`INSERT INTO usage_series (bucket, scope, start_millis, name, ${sql.literal(columns)})
      SELECT 'day', CAST(${scope} AS TEXT), CAST(${start} AS ${integer}) * 1000, ${sql.literal(name)}, ${sql.literal(values)}
      FROM usage_sums WHERE true GROUP BY day${sql.literal(scope === "all" ? "" : `, ${name}`)}
      ON CONFLICT (bucket, scope, start_millis, name) DO UPDATE SET ${sql.literal(same)}`
})

/** The first migration that a version must have to work on this store. Versions up to migration 12 do not look. */
const compatibility = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer } = words(sql)
  yield* sql`CREATE TABLE compatibility (id ${integer} PRIMARY KEY CHECK (id = 1), from_migration ${integer} NOT NULL ${end}`
  yield* sql`INSERT INTO compatibility (id, from_migration) VALUES (1, 0)`
})

/**
 * Sums of months and of parts of months, made of the sums of past days, and the last day that each table has. The names
 * by which batches of requests are searched.
 */
const reports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name } = words(sql)
  const sums = sql.literal(
    ["requests", "errors", "input", "output", "cached", "cost_micros"]
      .map((sum) => `${sum} ${onSqlite(sql) ? "INTEGER" : "BIGINT"} NOT NULL`)
      .join(", ")
  )
  yield* sql`CREATE TABLE usage_sum_periods (
    period ${name} NOT NULL, key_id ${name} NOT NULL, provider ${name} NOT NULL, model ${name} NOT NULL, ${sums},
    PRIMARY KEY (period, key_id, provider, model) ${end}`
  yield* sql`CREATE TABLE usage_detail_periods (
    period ${name} NOT NULL, key_id ${name} NOT NULL, provider ${name} NOT NULL, model ${name} NOT NULL,
    config ${name} NOT NULL, client ${name} NOT NULL, metadata ${name} NOT NULL, ${sums},
    PRIMARY KEY (period, key_id, provider, model, config, client, metadata) ${end}`
  yield* sql`CREATE TABLE usage_rolled (
    days ${name} NOT NULL, length ${integer} NOT NULL, through_day ${name} NOT NULL, PRIMARY KEY (days, length) ${end}`
  yield* sql`INSERT INTO usage_rolled (days, length, through_day)
    VALUES ('usage_sums', 7, ''), ('usage_sums', 9, ''), ('usage_details', 7, ''), ('usage_details', 9, '')`
  yield* sql`CREATE TABLE request_batch_names (position ${integer} PRIMARY KEY, names TEXT NOT NULL ${end}`
})

/** Sessions and one-time codes of the console, by digest. A session that no key began has no `key_digest`. */
const consoleSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name } = words(sql)
  yield* sql`CREATE TABLE console_sessions (
    digest ${name} PRIMARY KEY, key_digest ${name}, expires_millis ${integer} NOT NULL ${end}`
})

/** The hashes by which batches of requests are searched for ids and metadata. Batches from before have none. */
const batchHashes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE request_batch_names ADD COLUMN hashes ${words(sql).bytes}`
})

/** The key of a content, so that the key with the most loses its oldest. Contents from before have none. */
const contentOwners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { name } = words(sql)
  yield* sql`ALTER TABLE request_contents ADD COLUMN key_id ${name} NOT NULL DEFAULT ''`
  yield* sql`CREATE INDEX request_contents_by_key ON request_contents (key_id, ended_millis)`
})

/** By number and name. */
export const migrations = {
  "1_records": records,
  "2_accounting": accounting,
  "3_leases": leases,
  "4_batches": batches,
  "5_responses": responses,
  "6_request_view": requestView(""),
  "7_batch_ids": batchIds,
  "8_usage_series": usageSeries,
  "9_usage_waits": usageWaits,
  "10_contents": contents,
  "11_usage_details": usageDetails,
  "12_series_days": seriesDays,
  "13_compatibility": compatibility,
  "14_reports": reports,
  "15_console_sessions": consoleSessions,
  "16_batch_hashes": batchHashes,
  "17_content_owners": contentOwners,
  "18_request_rows": requestRows
}
