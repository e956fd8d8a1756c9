// Runs the command line as a process in its own folder, and reads its output.
// Must not depend on a verb.
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { afterAll } from "vitest"
import { program } from "./buildProgram.ts"
import { processPatienceMillis, within } from "./eventually.ts"

const sources = join(import.meta.dirname, "../../src/main.ts")

export interface Given {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly files?: Readonly<Record<string, string>>
  /** The most files that the process may open. */
  readonly openFiles?: number
  /** Starts the sources, where each package is a module of its own. */
  readonly isSource?: boolean
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** What is read of a running command. */
export interface Heard {
  /** The first match on stderr that was not given before; waits for it. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
}

export interface Started extends Heard {
  readonly child: ChildProcess
  /** Its working directory. */
  readonly folder: string
}

/** Processes of one test file; their folders are gone with it. */
export const processes = (): {
  readonly start: (args: ReadonlyArray<string>, given?: Given) => Started
  readonly run: (args: ReadonlyArray<string>, given?: Given) => Promise<Ended>
  readonly home: string
} => {
  const home = mkdtempSync(join(tmpdir(), "gateway-cli-"))
  const children = new Set<ChildProcess>()
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL")
    rmSync(home, { recursive: true })
  })
  const start = (args: ReadonlyArray<string>, given: Given = {}): Started => {
    const folder = mkdtempSync(join(home, "run-"))
    for (const [name, text] of Object.entries(given.files ?? {})) writeFileSync(join(folder, name), text)
    const command = [process.execPath, given.isSource === true ? sources : program, ...args]
    const limited = ["bash", "-c", `ulimit -n ${given.openFiles}; exec "$0" "$@"`, ...command]
    const [executable = "", ...rest] = given.openFiles === undefined ? command : limited
    const child = spawn(executable, rest, {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1", ...given.env }
    })
    children.add(child)
    child.stdin.end(given.stdin ?? "")
    const code = new Promise<number | null>((done) => child.once("close", done))
    return { child, folder, ...listen(child.stdout, child.stderr, code) }
  }
  return { start, run: (args, given) => start(args, given).ended, home }
}

/** Reads both outputs of a command; `code` comes once they have ended. */
export const listen = (stdout: Readable, stderr: Readable, code: Promise<number | null>): Heard => {
  let [out, err, given] = ["", "", 0]
  const heard = new Set<() => void>()
  stdout.on("data", (part) => (out += part))
  stderr.on("data", (part) => {
    err += part
    for (const look of heard) look()
  })
  const ended = code.then((code): Ended => ({ code, out, err }))
  return {
    ended,
    said: (pattern) =>
      within(
        `${pattern} on stderr`,
        new Promise((done, failed) => {
          const look = () => {
            const found = pattern.exec(err.slice(given))
            if (found === null) return
            given += found.index + found[0].length
            heard.delete(look)
            done(found)
          }
          heard.add(look)
          look()
          void ended.then(
            ({ code }) => failed(new Error(`ended with ${code} before it said ${pattern}: ${err.slice(given)}`)),
            failed
          )
        }),
        processPatienceMillis
      )
  }
}
