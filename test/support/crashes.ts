// Kills processes that write to one store at any moment, then compares the store with the acknowledged changes (F31).
// Must not depend on other writes to the store.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { masterKeysFile } from "../../src/store/Encryption.ts"
import { Records } from "../../src/store/Records.ts"
import * as Store from "../../src/store/Store.ts"
import { sharedCode } from "./buildProgram.ts"

export interface CrashReport {
  readonly kills: number
  readonly acknowledged: number
  readonly rotations: number
  readonly slowestOpenMillis: number
  /** What was not as it was acknowledged; empty when all is well. */
  readonly faults: ReadonlyArray<string>
}

const script = fileURLToPath(new URL("crashWriter.ts", import.meta.url))

/** Lines of a child, and an end to it after so many of them. */
const killedAfter = async (child: ChildProcess, lines: number, heard: (line: string) => void): Promise<void> => {
  let rest = ""
  let errors = ""
  let count = 0
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text
  })
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n")
    rest = parts.pop() ?? ""
    for (const line of parts) {
      heard(line)
      if (++count === lines) child.kill("SIGKILL")
    }
  })
  await once(child, "close")
  if (count < lines) throw new Error(`the writer ended by itself: ${errors}`)
}

interface Acknowledged {
  readonly version: number
  readonly round: number
}

/** What is wrong with the store, given what was acknowledged. */
const inspect = (acknowledged: ReadonlyMap<string, Acknowledged>) =>
  Effect.gen(function* () {
    const records = yield* Records
    const sql = yield* SqlClient.SqlClient
    const faults: Array<string> = []
    const [integrity] = yield* sql<{ readonly integrity_check: string }>`PRAGMA integrity_check`
    if (integrity?.integrity_check !== "ok") faults.push(`integrity: ${integrity?.integrity_check}`)
    const all = yield* records.list("prompt")
    const found = new Map(all.map((one) => [one.id, one]))
    for (const [id, { round, version }] of acknowledged) {
      const record = found.get(id)
      if (record === undefined) faults.push(`${id} is gone`)
      else if (record.version < version) faults.push(`${id} went back from ${version} to ${record.version}`)
      else if (record.version === version && record.value["round"] !== round)
        faults.push(`${id} ${version} is of another round`)
    }
    const versions = new Map<string, number>()
    for (const one of yield* records.histories("prompt")) {
      if (one.version !== (versions.get(one.id) ?? 0) + 1)
        faults.push(`${one.id} lacks a version before ${one.version}`)
      versions.set(one.id, one.version)
    }
    for (const { id, secret, value, version } of all) {
      if (versions.get(id) !== version) faults.push(`${id} ${version} is no version`)
      if (secret === undefined || JSON.stringify(Redacted.value(secret)) !== JSON.stringify(value))
        faults.push(`${id} has the secret of another`)
    }
    const [rows] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM records`
    if (rows?.count !== all.length) faults.push(`${(rows?.count ?? 0) - all.length} records do not decrypt`)
    const [log] = yield* sql<{
      readonly count: number
      readonly last: number | null
    }>`SELECT count(*) AS count, max(revision) AS last FROM audit_log`
    const revision = yield* records.revision
    if (log?.count !== revision || (log.last ?? 0) !== revision)
      faults.push(`revision ${revision}, audit log of ${log?.count} to ${log?.last}`)
    return faults
  })

/** Kills writers in rounds of two, every third round with one that rotates the keys, and looks at the store after each. */
export const crash = async (kills: number, chance: () => number): Promise<CrashReport> => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-crash-"))
  const acknowledged = new Map<string, Acknowledged>()
  const faults: Array<string> = []
  let [killed, told, rotations, slowestOpenMillis] = [0, 0, 0, 0]
  const heard = (line: string): void => {
    const [id = "", version, round] = line.split(" ")
    if (line === "rotated") rotations++
    else {
      told++
      acknowledged.set(id, { version: Number(version), round: Number(round) })
    }
  }
  try {
    for (let round = 0; killed < kills; round++) {
      const tasks: ReadonlyArray<readonly [string, string]> = [
        ["a", "write"],
        ["b", "write"],
        ...(round % 3 === 0 ? [["c", "rotate"] as const] : [])
      ]
      const children = tasks.map(([name, task]) => ({
        task,
        child: spawn(process.execPath, [script, folder, name, task], {
          stdio: ["ignore", "pipe", "pipe"],
          env: { ...process.env, ...sharedCode }
        })
      }))
      await Promise.all(
        children.map(({ child, task }) =>
          killedAfter(child, 1 + Math.floor(chance() * (task === "rotate" ? 2 : 16)), heard)
        )
      )
      killed += children.length
      const started = performance.now()
      let opened = 0
      const store = Store.layer(
        { kind: "sqlite", path: join(folder, "gateway.db") },
        masterKeysFile(join(folder, "secret.key"))
      )
      const looked = Effect.andThen(
        Effect.sync(() => {
          opened = performance.now() - started
        }),
        inspect(acknowledged)
      )
      faults.push(...(await Effect.runPromise(Effect.provide(looked, store))))
      slowestOpenMillis = Math.max(slowestOpenMillis, Math.round(opened))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { kills: killed, acknowledged: told, rotations, slowestOpenMillis, faults }
}
