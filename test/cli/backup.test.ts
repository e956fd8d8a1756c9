// `backup` and `restore`: copies of a store in use, damaged and foreign files, lost and wrong keys.
// Must not use the admin API.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "../support/commandLine.ts"

const home = mkdtempSync(join(tmpdir(), "gateway-backup-"))
afterAll(() => rmSync(home, { recursive: true }))

let folder = home
beforeEach(() => {
  folder = mkdtempSync(join(home, "run-"))
})

const run = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  commandLine(words, { GATEWAY_DATA_DIR: folder, ...env })
const at = (name: string): string => join(folder, name)

const addProvider = async (slug: string): Promise<void> => {
  writeFileSync(at("entry.json"), JSON.stringify({ slug, provider: "google", api_key: "k" }))
  const { code, err } = await run(["providers", "create", "--file", at("entry.json")])
  expect([code, err]).toEqual([0, `made provider ${slug}, version 1\n`])
}
const providers = async (): Promise<ReadonlyArray<string>> => {
  const listed = JSON.parse((await run(["providers", "list", "--json"])).out)
  return listed.map((one: { readonly slug: string }) => one.slug)
}
const backup = () => run(["backup", at("copy.db")])
const restore = (env?: Readonly<Record<string, string>>) => run(["restore", at("copy.db")], env)

describe("backup", () => {
  it("backup: a copy made while the store is open is restored with all that it had", async () => {
    await addProvider("before")
    const open = new DatabaseSync(at("gateway.db"))
    open.exec("BEGIN; SELECT * FROM records")
    const made = await backup()
    const size = `${(statSync(at("copy.db")).size / 1_000_000).toFixed(1)} MB`
    expect(made).toEqual({
      code: 0,
      out: `ok  sqlite:${at("gateway.db")}  copied to ${at("copy.db")}, ${size}\n    its secrets open with the key file ${at("secret.key")} only: keep a copy of it elsewhere\n`,
      err: ""
    })
    expect((statSync(at("copy.db")).mode & 0o777).toString(8)).toBe("600")
    open.close()
    await addProvider("after")
    const { code, err, out } = await restore()
    const kept = readdirSync(folder).find((name) => name.startsWith("gateway.db.before-")) ?? ""
    expect([code, err, out]).toEqual([
      0,
      "",
      `ok  sqlite:${at("gateway.db")}  restored from ${at("copy.db")}\n    the store that was there is ${at(kept)}\n`
    ])
    expect(await providers()).toEqual(["before"])
    // The account's key still opens: its text is needed to render it.
    expect((await run(["providers", "get", "before", "--json"])).code).toBe(0)
  })

  it("backup: an existing file is left as it is", async () => {
    await addProvider("a")
    writeFileSync(at("copy.db"), "mine")
    expect(await backup()).toEqual({
      code: 1,
      out: "",
      err: `the backup ${at("copy.db")} cannot be written: EEXIST: file already exists, open '${at("copy.db")}'\n`
    })
    expect(readFileSync(at("copy.db"), "utf8")).toBe("mine")
  })

  it("backup: an absent store makes no file", async () => {
    expect(await backup()).toEqual({ code: 1, out: "", err: `there is no store at ${at("gateway.db")}\n` })
    expect(existsSync(at("copy.db"))).toBe(false)
  })

  it("backup and restore: PostgreSQL and stores in memory are left to their own tools", async () => {
    const postgres = { GATEWAY_STORE_URL: "postgres://u:p@127.0.0.1:1/d" }
    const answers = [
      await run(["backup", at("copy.db")], postgres),
      await restore(postgres),
      await run(["backup", at("copy.db")], { GATEWAY_STORE_URL: "sqlite::memory:" })
    ]
    expect(answers.map(({ code, err }) => [code, err])).toEqual([
      [
        2,
        "the store is postgres://127.0.0.1:1/d: use pg_dump --format=custom, and keep GATEWAY_SECRET_KEY apart from it\n"
      ],
      [2, "the store is postgres://127.0.0.1:1/d: use pg_restore --clean, with the GATEWAY_SECRET_KEY of that time\n"],
      [2, "the store is in memory, and ends with its process\n"]
    ])
  })
})

describe("restore", () => {
  it("restore: refuses while a process has the store open, which stays as it is", async () => {
    await addProvider("a")
    await backup()
    await addProvider("b")
    const open = new DatabaseSync(at("gateway.db"))
    open.exec("SELECT * FROM records")
    expect(await restore()).toEqual({
      code: 1,
      out: "",
      err: `a gateway has the store ${at("gateway.db")} open: stop it, then restore again\n`
    })
    open.close()
    expect(await providers()).toEqual(["a", "b"])
  })

  it("restore: refuses damaged and foreign files", async () => {
    writeFileSync(at("copy.db"), "no database".repeat(1_000))
    const text = await restore()
    rmSync(at("copy.db"))
    const none = await restore()
    const foreign = new DatabaseSync(at("copy.db"))
    foreign.exec("CREATE TABLE t (a)")
    foreign.close()
    expect([text, none, await restore()].map(({ code, err }) => [code, err])).toEqual([
      [1, `${at("copy.db")} is not a backup of a gateway's store: file is not a database\n`],
      [1, `there is no file ${at("copy.db")}\n`],
      [1, `${at("copy.db")} is not a backup of a gateway's store: it has no tables of one\n`]
    ])
    expect(existsSync(at("gateway.db"))).toBe(false)
  })

  it("restore: refuses a copy whose secrets no key here opens, and takes it once the key is back", async () => {
    await addProvider("a")
    await backup()
    const key = readFileSync(at("secret.key"), "utf8")
    const id = new DatabaseSync(at("copy.db"), { readOnly: true }).prepare("SELECT master_id FROM vault_keys").get()?.[
      "master_id"
    ]
    for (const name of readdirSync(folder)) if (name !== "copy.db") rmSync(at(name))
    expect(await restore()).toEqual({
      code: 1,
      out: "",
      err: `the secrets of ${at("copy.db")} need the master key ${String(id)}, which is not in the key file ${at("secret.key")}: put that key back, then restore again\n`
    })
    writeFileSync(at("secret.key"), key, { mode: 0o600 })
    expect((await restore()).out).toBe(`ok  sqlite:${at("gateway.db")}  restored from ${at("copy.db")}\n`)
    expect(await providers()).toEqual(["a"])
  })
})
