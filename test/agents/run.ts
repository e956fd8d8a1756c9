// Runs one program to its end, with a limit of time.
// Must not know which program.
import { spawn } from "node:child_process"

export interface Ended {
  /** Null if the program did not start or was stopped. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly cwd: string
  /** The whole environment of the program; by default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Default one minute. */
  readonly millis?: number
}

export const run = (
  command: string,
  args: ReadonlyArray<string>,
  { cwd, env = process.env, millis = 60_000 }: RunOptions
): Promise<Ended> =>
  new Promise((ended) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: millis })
    let [out, err] = ["", ""]
    child.stdout.on("data", (part: Buffer) => (out += part.toString()))
    child.stderr.on("data", (part: Buffer) => (err += part.toString()))
    child.once("error", (error) => ended({ code: null, out, err: error.message }))
    child.once("close", (code) => ended({ code, out, err }))
  })
