// A PostgreSQL of its own below a temporary folder, which can crash and start again.
// Must not touch any other server. As root it runs as the user `postgres`, because PostgreSQL refuses root.
import { execFile, execFileSync } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { freePort } from "../../bench/contestants.ts"

export interface Postgres {
  readonly url: string
  readonly port: number
  /** Ends every process without a checkpoint, as a crash does. */
  readonly crash: () => Promise<void>
  readonly start: () => Promise<void>
  readonly remove: () => Promise<void>
}

const run = promisify(execFile)

/** The folder of `initdb` and `pg_ctl`; Debian keeps them off the path. */
const folderOf = (): string | undefined => {
  const root = "/usr/lib/postgresql"
  const versions = existsSync(root) ? readdirSync(root).map((version) => join(root, version, "bin")) : []
  const onPath = (process.env["PATH"] ?? "").split(":")
  return [...versions, ...onPath].find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl"))
  )
}

interface User {
  readonly uid: number
  readonly gid: number
}

/** Undefined: the own user. */
const userOf = (): User | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

export const hasPostgres = (): boolean => {
  try {
    userOf()
    return folderOf() !== undefined
  } catch {
    return false
  }
}

export const startPostgres = async (): Promise<Postgres> => {
  const bin = folderOf() ?? ""
  const user = userOf()
  const folder = mkdtempSync(join(tmpdir(), "model-gateway-postgres-"))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, "data")
  const port = await freePort()
  const options = { cwd: folder, ...user }
  await run(join(bin, "initdb"), ["-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8"], options)
  const start = async (): Promise<void> => {
    const server = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`
    await run(join(bin, "pg_ctl"), ["-D", data, "-w", "-l", join(folder, "log"), "-o", server, "start"], options)
  }
  const crash = async (): Promise<void> => {
    await run(join(bin, "pg_ctl"), ["-D", data, "-w", "-m", "immediate", "stop"], options)
  }
  await start()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    crash,
    start,
    remove: async () => {
      await crash()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
