// Restore trials: a copy made under load, a killed writer, a store of an older release, a lost key file.
// Must not use the admin API.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { sharedCode } from "../support/buildProgram.ts"
import { commandLine } from "../support/commandLine.ts"
import { keptReleases, keptStore } from "../support/keptStores.ts"
import { keptKey } from "../support/storeScenario.ts"

const home = mkdtempSync(join(tmpdir(), "gateway-restore-"))
afterAll(() => rmSync(home, { recursive: true }))

let folder = home
beforeEach(() => {
  folder = mkdtempSync(join(home, "run-"))
})
const at = (...names: ReadonlyArray<string>): string => join(folder, ...names)

const run = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  commandLine(words, { GATEWAY_DATA_DIR: folder, ...env })

/** A process that writes to the store of the folder; resolves once it has written so often. */
const writing = async (rounds: number) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "..", "support", "loadWriter.ts"), folder], {
    env: { ...process.env, ...sharedCode }
  })
  const ended = once(child, "close")
  let written = 0
  await new Promise<void>((resolve, reject) => {
    let errors = ""
    child.stderr.on("data", (bytes: Buffer) => (errors += bytes.toString()))
    child.once("close", () => reject(new Error(`the writer ended: ${errors}`)))
    child.stdout.on("data", (bytes: Buffer) => {
      written += bytes.length
      if (written >= rounds) resolve()
    })
  })
  return {
    written: () => written,
    stop: async () => {
      child.stdin.end()
      await ended
    },
    kill: async () => {
      child.kill("SIGKILL")
      await ended
    }
  }
}

/** What the tables of a store have; the numbers of one consistent state fit each other. */
const counts = (file: string) => {
  const db = new DatabaseSync(file, { readOnly: true })
  const one = (sql: string): number => Number(db.prepare(`SELECT (${sql}) AS n`).get()?.["n"] ?? 0)
  const read = {
    damage: db.prepare("PRAGMA integrity_check").get()?.["integrity_check"],
    listed: one("SELECT COUNT(*) FROM requests"),
    batched: one("SELECT SUM(rows_number) FROM request_batches"),
    summed: one("SELECT SUM(requests) FROM usage_sums"),
    detailed: one("SELECT SUM(requests) FROM usage_details"),
    series: one("SELECT SUM(requests) FROM usage_series WHERE bucket = 'day' AND scope = 'all'"),
    records: one("SELECT COUNT(*) FROM records"),
    revision: one("SELECT number FROM revision"),
    audited: one("SELECT COUNT(*) FROM audit_log")
  }
  db.close()
  return read
}

/** Each change of a record comes before the two requests of its round. */
const expectConsistent = (file: string, atLeast: number): number => {
  const { damage, listed, records, ...more } = counts(file)
  expect(damage).toBe("ok")
  expect(records).toBeGreaterThanOrEqual(atLeast)
  expect([2 * records, 2 * records - 2]).toContain(listed)
  expect(more).toEqual({
    batched: listed,
    summed: listed,
    detailed: listed,
    series: listed,
    revision: records,
    audited: records
  })
  return records
}

const configs = async (): Promise<number> => {
  const { code, err, out } = await run(["configs", "list", "--json"])
  expect([code, err]).toEqual([0, ""])
  return JSON.parse(out).length
}

describe("restore trials", () => {
  it("restore trial: a copy made under load is one state, and starts on an empty place", async () => {
    const writer = await writing(5)
    const before = writer.written()
    const made = await run(["backup", at("copy.db")])
    expect([made.code, made.err]).toEqual([0, ""])
    const after = writer.written()
    await writer.stop()
    const records = expectConsistent(at("copy.db"), before)
    expect(after).toBeGreaterThanOrEqual(before)
    for (const name of readdirSync(folder)) if (name.startsWith("gateway.db")) rmSync(at(name))
    expect(await run(["restore", at("copy.db")])).toEqual({
      code: 0,
      out: `ok  sqlite:${at("gateway.db")}  restored from ${at("copy.db")}\n`,
      err: ""
    })
    expect(await configs()).toBe(records)
    expect(expectConsistent(at("gateway.db"), records)).toBe(records)
  })

  it("restore trial: a store whose writer was killed starts with all that was acknowledged", async () => {
    const outer = folder
    for (const rounds of [10, 20, 30]) {
      folder = join(outer, `${rounds}`)
      mkdirSync(folder)
      const writer = await writing(rounds)
      await writer.kill()
      const records = expectConsistent(at("gateway.db"), writer.written())
      expect(await configs()).toBe(records)
    }
  })

  it.each(keptReleases())(
    "restore trial: a store of the release of migration %i is restored and upgraded",
    async (release) => {
      const old = new DatabaseSync(at("copy.db"))
      for (const [sql, ...params] of keptStore(release, "sqlite").fill)
        old
          .prepare(sql)
          .all(
            ...params.map((value) =>
              typeof value === "object" && value !== null ? Buffer.from(value.base64, "base64") : value
            )
          )
      old.close()
      const env = { GATEWAY_SECRET_KEY: keptKey }
      expect((await run(["restore", at("copy.db")], env)).code).toBe(0)
      const migrated = await run(["migrate"], env)
      expect([migrated.code, migrated.out.startsWith(`ok  sqlite:${at("gateway.db")}  13 compatibility`)]).toEqual([
        0,
        true
      ])
      const listed = await run(["usage", "--by", "provider", "--csv"], env)
      expect([listed.code, listed.out]).toEqual([
        0,
        "provider,requests,errors,input_tokens,output_tokens,cached_tokens,cost_usd\r\n,2,2,0,0,0,0\r\ngoogle,2,0,200,40,20,0.002468\r\n"
      ])
    }
  )

  it("restore trial: a lost key file is a failure of doctor with what to do, and no start makes another key", async () => {
    writeFileSync(at("entry.json"), JSON.stringify({ slug: "a", provider: "google", api_key: "k" }))
    await run(["providers", "create", "--file", at("entry.json")])
    copyFileSync(at("secret.key"), at("kept.key"))
    rmSync(at("secret.key"))
    const missing = `the key file ${at("secret.key")} is missing, and the store has secrets that no other key opens: put its copy back, or set GATEWAY_SECRET_KEY`
    writeFileSync(at("empty.yaml"), "server: { port: 0 }\n")
    const { code, out } = await run(["doctor", "--config", at("empty.yaml"), "--json"])
    const found: ReadonlyArray<{ readonly check: string }> = JSON.parse(out)
    expect([code, found.filter(({ check }) => check === "store")]).toEqual([
      1,
      [{ check: "store", status: "fail", detail: missing, todo: "check store.url and GATEWAY_SECRET_KEY" }]
    ])
    for (const words of [
      ["serve", "--config", at("empty.yaml")],
      ["keys", "list"],
      ["keys", "rotate-secret"]
    ]) {
      const ended = await run(words)
      expect([words, ended.code, ended.err]).toEqual([words, 1, `${missing}\n`])
    }
    expect(existsSync(at("secret.key"))).toBe(false)
    copyFileSync(at("kept.key"), at("secret.key"))
    expect((await run(["providers", "list", "--json"])).code).toBe(0)
  })
})
