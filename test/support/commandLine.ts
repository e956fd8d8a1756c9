// Runs the command line inside the test's own process, to its end or until it is stopped, and reads its output.
// Must not depend on a verb.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough, Readable } from "node:stream"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import { onTestFinished } from "vitest"
import { runCli } from "../../src/cli/Cli.ts"
import { Failure } from "../../src/cli/Output.ts"
import { LogSink } from "../../src/telemetry/LogWriter.ts"
import { type Ended, type Heard, listen } from "./process.ts"

type Env = Readonly<Record<string, string>>

export interface Place {
  /** Files of a working directory that the command gets for itself. */
  readonly files?: Readonly<Record<string, string>>
  readonly stdin?: string
}

export interface Command extends Heard {
  /** Its working directory. */
  readonly folder: string
  /** Ends it as a signal does. */
  readonly stop: () => Promise<Ended>
}

/** The exit code, as `src/main.ts` derives it. */
const codeOf = (exit: Exit.Exit<void, Failure>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.hasInterruptsOnly(exit.cause)) return Number(process.exitCode ?? 130)
  const error = Cause.squash(exit.cause)
  if (error instanceof Failure) return error.code
  throw error
}

/** Replaces what a process has of its own: variables, working directory, standard input and exit code. */
const enter = (env: Env, folder: string | undefined, stdin: string | undefined): (() => void) => {
  const kept = { env: process.env, cwd: process.cwd(), exitCode: process.exitCode }
  const input = Object.getOwnPropertyDescriptor(process, "stdin")
  process.env = { PATH: kept.env["PATH"], HOME: folder ?? "/nonexistent", ...env }
  process.exitCode = undefined
  if (folder !== undefined) process.chdir(folder)
  if (stdin !== undefined)
    Object.defineProperty(process, "stdin", { value: Readable.from([stdin]), configurable: true })
  return () => {
    process.env = kept.env
    process.exitCode = kept.exitCode
    process.chdir(kept.cwd)
    if (stdin !== undefined && input !== undefined) Object.defineProperty(process, "stdin", input)
  }
}

const begin = (words: ReadonlyArray<string>, env: Env = {}, { files, stdin }: Place = {}): Command => {
  const folder = files === undefined ? undefined : mkdtempSync(join(tmpdir(), "gateway-command-"))
  for (const [name, text] of Object.entries(files ?? {})) writeFileSync(join(folder ?? "", name), text)
  const [out, err] = [new PassThrough(), new PassThrough()]
  const writer =
    (stream: PassThrough) =>
    (...parts: ReadonlyArray<unknown>) => {
      stream.write(`${parts.map(String).join(" ")}\n`)
    }
  const console: Console.Console = { ...globalThis.console, log: writer(out), error: writer(err) }
  const leave = enter(env, folder, stdin)
  const fiber = Effect.runFork(
    runCli(words).pipe(
      Effect.provideService(Console.Console, console),
      Effect.provideService(LogSink, out),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )
  const run = async (): Promise<number> => {
    const exit = await Effect.runPromise(Fiber.await(fiber))
    try {
      return codeOf(exit)
    } finally {
      leave()
      await Promise.all([out, err].map((stream) => new Promise<void>((done) => stream.end().once("close", done))))
      if (folder !== undefined) rmSync(folder, { recursive: true })
    }
  }
  const heard = listen(out, err, run())
  return {
    ...heard,
    folder: folder ?? process.cwd(),
    stop: async () => {
      await Effect.runPromise(Fiber.interrupt(fiber))
      return heard.ended
    }
  }
}

/** Runs the words to their end, with no variable of the environment but these; one call at a time. */
export const commandLine = (words: ReadonlyArray<string>, env?: Env, place?: Place): Promise<Ended> =>
  begin(words, env, place).ended

/** Starts a service in the same way. It ends with the test at the latest, and after the commands that follow it. */
export const startCommand = (words: ReadonlyArray<string>, env?: Env, place?: Place): Command => {
  const command = begin(words, env, place)
  onTestFinished(async () => void (await command.stop()))
  return command
}
