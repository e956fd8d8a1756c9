// Runs the command line inside the test's own process, and returns its output and exit code.
// Must not depend on a verb.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { runCli } from "../../src/cli/Cli.ts"
import type { Ended } from "./process.ts"

/** Runs the words with no variable of the environment but these; one call at a time. */
export const commandLine = async (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Promise<Ended> => {
  const [out, err]: [Array<string>, Array<string>] = [[], []]
  const writer =
    (lines: Array<string>) =>
    (...parts: ReadonlyArray<unknown>) => {
      lines.push(`${parts.map(String).join(" ")}\n`)
    }
  const console: Console.Console = { ...globalThis.console, log: writer(out), error: writer(err) }
  const kept = process.env
  process.env = { PATH: kept["PATH"], HOME: "/nonexistent", ...env }
  const exit = await Effect.runPromiseExit(
    Effect.provideService(Effect.result(runCli(words)), Console.Console, console)
  ).finally(() => {
    process.env = kept
  })
  const ended = Exit.isSuccess(exit) ? exit.value : undefined
  if (ended === undefined) throw new Error(String(exit))
  return { code: Result.isFailure(ended) ? ended.failure.code : 0, out: out.join(""), err: err.join("") }
}
