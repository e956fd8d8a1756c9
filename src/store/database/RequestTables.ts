// Migration 18: each ended request as a plain row, with the indexes of the list's filters; older batches are unpacked.
// Must not know how rows are written or searched. A released migration never changes.
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { onSqlite } from "./Sql.ts"

/** What differs between the databases. */
interface Dialect {
  readonly text: string
  readonly integer: string
  readonly real: string
  readonly boolean: string
  /** What follows the columns of a table; without rows by number where the key is all of the row. */
  readonly end: string
  readonly endOfKeys: string
  /** The columns of an index, which is read from the newest row on. */
  readonly index: (column: string) => string
  /** The elements of a list of JSON as the rows `name`, and the number of each. */
  readonly elements: (list: string, name: string) => string
  readonly numberOf: (name: string) => string
  /** A number or text of JSON in an object of JSON. */
  readonly scalar: string
  /** An object of JSON without the members that are null. */
  readonly object: (members: string) => string
  readonly list: (objects: string, name: string) => string
  readonly members: (object: string, name: string) => string
  readonly moment: (millis: string) => string
  /** The moment of a row as the database has it. */
  readonly endedAt: string
  readonly endedMillis: string
  /** A text as JSON. */
  readonly json: (text: string) => string
  readonly noPacked: string
}

const sqlite: Dialect = {
  text: "TEXT",
  integer: "INTEGER",
  real: "REAL",
  boolean: "INTEGER",
  end: ") STRICT",
  endOfKeys: ") STRICT, WITHOUT ROWID",
  index: (column) => column,
  elements: (list, name) => `json_each(${list}) AS ${name}`,
  numberOf: (name) => `${name}.key`,
  scalar: "->>",
  object: (members) => `json_patch('{}', json_object(${members}))`,
  list: (objects) => `json_group_array(json(${objects}))`,
  members: (object, name) => `json_each(${object}) AS ${name}`,
  moment: (millis) => `strftime('%Y-%m-%dT%H:%M:%fZ', CAST(${millis} AS REAL) / 1000, 'unixepoch')`,
  endedAt: "r.ts",
  endedMillis: "CAST(ROUND((julianday(r.ts) - 2440587.5) * 86400000) AS INTEGER)",
  json: (text) => text,
  noPacked: "NULL"
}

const postgres: Dialect = {
  text: 'TEXT COLLATE "C"',
  integer: "BIGINT",
  real: "DOUBLE PRECISION",
  boolean: "BOOLEAN",
  end: ")",
  endOfKeys: ")",
  index: (column) => `${column}, position`,
  elements: (list, name) => `json_array_elements(${list}) WITH ORDINALITY AS ${name} (value, number)`,
  numberOf: (name) => `${name}.number - 1`,
  scalar: "->",
  object: (members) => `json_strip_nulls(json_build_object(${members}))`,
  list: (objects, name) => `COALESCE(json_agg(${objects} ORDER BY ${name}.number), '[]')`,
  members: (object, name) => `json_each_text(CAST(${object} AS JSON)) AS ${name}`,
  moment: (millis) =>
    `to_char(to_timestamp(CAST(${millis} AS DOUBLE PRECISION) / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  endedAt: "CAST(r.ts AS TIMESTAMPTZ)",
  endedMillis: "CAST(EXTRACT(EPOCH FROM CAST(r.ts AS TIMESTAMPTZ)) * 1000 AS BIGINT)",
  json: (text) => `CAST(${text} AS JSON)`,
  noPacked: "CAST(NULL AS JSON)"
}

/** The columns have the names of the facts of a row. Objects and lists are JSON. */
const columnsOf = ({ boolean, integer, real, text }: Dialect): string => `position ${integer} PRIMARY KEY,
  id ${text} NOT NULL, request_id ${text} NOT NULL, trace_id ${text} NOT NULL, ts ${text} NOT NULL, route ${text} NOT NULL,
  status ${integer} NOT NULL, provider ${text}, model ${text}, target ${integer}, model_warning TEXT,
  skipped_targets TEXT, stream ${boolean} NOT NULL, cache ${text},
  duration_ms ${real} NOT NULL, ttft_ms ${real}, overhead_ms ${real} NOT NULL,
  usage TEXT, usage_estimated ${boolean}, cost_usd ${real}, cost_partial ${boolean}, place ${text}, saved TEXT,
  key_id ${text}, user_id ${text}, config ${text}, client ${text}, metadata TEXT,
  ignored_params TEXT, adjusted_params TEXT, error_code ${text}, error_message TEXT, error_param TEXT, attempts TEXT NOT NULL`

const indexes: ReadonlyArray<readonly [column: string, where?: string]> = [
  ["id"],
  ["request_id"],
  ["trace_id"],
  ["ts"],
  ["key_id"],
  ["model"],
  ["status", "status >= 400"],
  ["error_code", "error_code IS NOT NULL"],
  ["user_id", "user_id IS NOT NULL"],
  ["config", "config IS NOT NULL"]
]

/** The columns of a row that batches of migrations 4 to 17 have, each from the list of its facts. Their times are microseconds. */
const unpackedColumns = (dialect: Dialect): Readonly<Record<string, string>> => {
  const { boolean, elements, integer, list, moment, object, real, scalar } = dialect
  const fact = (at: number) => `fact.value ->> ${at}`
  const json = (at: string) => `NULLIF(NULLIF(CAST(fact.value ${at} AS TEXT), 'null'), '[]')`
  const millis = (value: string) => `CAST(${value} AS ${real}) / 1000`
  const dollars = (value: string) => `CAST(${value} AS ${real}) / 1000000`
  const usage = (at: string) => `fact.value -> 14 ${scalar} ${at}`
  const unlessZero = (at: number) => `NULLIF(CAST(fact.value -> 14 ->> ${at} AS ${integer}), 0)`
  const billed = (at: number) => `fact.value -> 14 -> 9 ${scalar} ${at}`
  const isThere = (at: number, text: string) =>
    `CASE WHEN fact.value ->> ${at} IS NULL THEN NULL ELSE CAST(${text} AS TEXT) END`
  const attempt = (at: number) => `attempt.value ${scalar} ${at}`
  return {
    id: `COALESCE(${fact(18)}, ${fact(1)})`,
    request_id: fact(1),
    trace_id: fact(6),
    ts: moment(fact(0)),
    route: fact(7),
    status: `CAST(${fact(2)} AS ${integer})`,
    provider: fact(3),
    model: fact(4),
    target: `CAST(${fact(8)} AS ${integer})`,
    skipped_targets: json("-> 29"),
    stream: `CAST(${fact(9)} AS ${boolean})`,
    cache: fact(10),
    duration_ms: millis(fact(11)),
    ttft_ms: millis(fact(12)),
    overhead_ms: millis(fact(13)),
    usage: isThere(
      14,
      object(`'input_tokens', ${usage("0")}, 'output_tokens', ${usage("1")}, 'cached_tokens', ${usage("2")},
        'cache_write_tokens', ${usage("3")}, 'reasoning_tokens', ${usage("4")}, 'images', ${usage("8")},
        'cached_audio_tokens', ${billed(0)}, 'cache_write_1h_tokens', ${billed(1)}, 'searches', ${billed(2)}, 'tier', ${billed(3)},
        'audio_input_tokens', ${unlessZero(5)}, 'audio_output_tokens', ${unlessZero(6)}, 'image_output_tokens', ${unlessZero(7)}`)
    ),
    usage_estimated: `CAST(${fact(28)} AS ${boolean})`,
    cost_usd: dollars(fact(15)),
    cost_partial: `CAST(${fact(27)} AS ${boolean})`,
    place: fact(26),
    saved: isThere(
      21,
      object(`'input_tokens', fact.value -> 21 ${scalar} 0, 'output_tokens', fact.value -> 21 ${scalar} 1,
        'cost_usd', ${dollars("fact.value -> 21 ->> 2")}`)
    ),
    key_id: fact(5),
    config: fact(22),
    client: fact(23),
    metadata: json("-> 24"),
    ignored_params: json("-> 25 -> 0"),
    adjusted_params: json("-> 25 -> 1"),
    error_code: fact(16),
    error_message: fact(19),
    error_param: fact(20),
    attempts: `(SELECT CAST(${list(
      object(`'provider', ${attempt(0)}, 'model', ${attempt(1)}, 'target', ${attempt(2)},
        'started_ms', COALESCE(${millis("attempt.value ->> 7")}, 0), 'duration_ms', ${millis("attempt.value ->> 3")},
        'token_ms', ${millis("attempt.value ->> 9")}, 'sent_ms', ${millis("attempt.value ->> 10")},
        'first_chunk_ms', ${millis("attempt.value ->> 4")}, 'upstream_status', ${attempt(6)},
        'error_code', ${attempt(5)}, 'error_message', ${attempt(8)}`),
      "attempt"
    )} AS TEXT) FROM ${elements("fact.value -> 17", "attempt")})`
  }
}

/** A row's position is its batch's position times a thousand, plus its index in the batch. */
const unpackRows = (dialect: Dialect, position: string, source: string): string => {
  const columns = unpackedColumns(dialect)
  return `INSERT INTO request_rows (position, ${Object.keys(columns).join(", ")})
    SELECT ${position} * 1000 + ${dialect.numberOf("fact")}, ${Object.values(columns).join(", ")} FROM ${source}`
}

/** The metadata of the rows of these positions, by name and value. */
const unpackMetadata = ({ members }: Dialect, condition: string): string =>
  `INSERT INTO request_metadata (name, value, position) SELECT m.key, m.value, r.position
    FROM request_rows AS r CROSS JOIN ${members("r.metadata", "m")} WHERE r.metadata IS NOT NULL AND ${condition}`

/** Unpacks each batch that the release before writes while both run. */
const unpackLater = (dialect: Dialect): ReadonlyArray<string> => {
  const rows = unpackRows(dialect, "NEW.position", dialect.elements(dialect.json("NEW.packed"), "fact"))
  const metadata = unpackMetadata(
    dialect,
    "r.position >= NEW.position * 1000 AND r.position < (NEW.position + 1) * 1000"
  )
  const trigger = "CREATE TRIGGER request_batches_unpacked AFTER INSERT ON request_batches"
  const isPacked = "(NEW.packed <> '[]')"
  return dialect === sqlite
    ? [`${trigger} FOR EACH ROW WHEN ${isPacked} BEGIN ${rows}; ${metadata}; END`]
    : [
        `CREATE FUNCTION unpack_requests() RETURNS TRIGGER LANGUAGE plpgsql AS $unpack$ BEGIN ${rows}; ${metadata}; RETURN NULL; END $unpack$`,
        `${trigger} FOR EACH ROW WHEN ${isPacked} EXECUTE FUNCTION unpack_requests()`
      ]
}

/** One row a request, for operators who read the store with SQL. */
const requestsView = ({ endedAt, endedMillis, integer, json, noPacked }: Dialect): string => {
  const same = (columns: ReadonlyArray<string>) => columns.map((column) => `r.${column}`).join(", ")
  const tokens = (name: string) => `CAST(${json("r.usage")} ->> '${name}' AS ${integer}) AS ${name}`
  return `CREATE VIEW requests AS SELECT r.position / 1000 AS batch, r.position % 1000 AS number,
    ${endedMillis} AS ended_millis, ${endedAt} AS ended_at,
    ${same(["request_id", "id", "trace_id", "route"])}, ${same(["status", "provider", "model", "key_id", "stream", "cache"])},
    r.duration_ms AS duration_millis, r.ttft_ms AS first_byte_millis,
    ${["input_tokens", "output_tokens", "cached_tokens"].map(tokens).join(", ")}, r.cost_usd,
    ${same(["error_code", "error_message", "error_param", "config", "client", "metadata"])}, ${noPacked} AS packed,
    ${same(["user_id", "place", "attempts"])}, r.overhead_ms AS overhead_millis, ${tokens("reasoning_tokens")}
    FROM request_rows AS r`
}

/** Batches keep their row, which numbers them; from here on it has no text. The tables by which texts were searched go. */
export const requestRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const dialect = onSqlite(sql) ? sqlite : postgres
  const packed = dialect.json("batch.packed")
  const run = (text: string) => sql`${sql.literal(text)}`
  yield* run(`CREATE TABLE request_rows (${columnsOf(dialect)} ${dialect.end}`)
  yield* run(`CREATE TABLE request_metadata (name ${dialect.text} NOT NULL, value ${dialect.text} NOT NULL,
    position ${dialect.integer} NOT NULL, PRIMARY KEY (name, value, position) ${dialect.endOfKeys}`)
  // Before the batches are read: on PostgreSQL it waits for the writes that run, and holds back later ones until the end.
  for (const statement of unpackLater(dialect)) yield* run(statement)
  yield* run(
    unpackRows(dialect, "batch.position", `request_batches AS batch CROSS JOIN ${dialect.elements(packed, "fact")}`)
  )
  yield* run(unpackMetadata(dialect, "TRUE"))
  for (const [column, where] of indexes)
    yield* run(
      `CREATE INDEX request_rows_by_${column} ON request_rows (${dialect.index(column)})${where === undefined ? "" : ` WHERE ${where}`}`
    )
  yield* run("DROP VIEW requests")
  yield* run(requestsView(dialect))
  yield* run("DROP TABLE request_batch_names")
})
