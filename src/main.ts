#!/usr/bin/env node
// The entry point of the process: Node version check, command line, signals, exit code.
// Must not know any command. Everything else is loaded after the version check, because an old Node cannot load it.
import { nodeVersionFault } from "./cli/process/platform.ts"

const fault = nodeVersionFault(process.versions.node)
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}

await import("./cli/process/V8Flags.ts")
await import("./cli/process/NodeQuirks.ts")
// Caches compiled code between starts, if the temporary folder is writable.
const { enableCompileCache } = await import("node:module")
enableCompileCache()
await import("effect/schema/SchemaJITCompiler/enable")
const [{ runMain }, Cause, Exit, { getErrorExitCode }, { runCli: cli }, { signalsOf }] = await Promise.all([
  import("@effect/platform-node/NodeRuntime"),
  import("effect/Cause"),
  import("effect/Exit"),
  import("effect/Runtime"),
  import("./cli/Cli.ts"),
  import("./cli/process/platform.ts")
])

let signals = 0
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143]
] as const) {
  // The first signal drains; the second one exits immediately.
  process.on(signal, () => ++signals > 1 && process.exit(code))
}
// They end the service as Ctrl-C does. A process of Windows cannot send itself a signal without its end.
for (const signal of signalsOf(process.platform).ending) process.on(signal, () => process.emit("SIGINT"))

runMain(cli(process.argv.slice(2)), {
  teardown: (exit, end) => {
    if (Exit.isSuccess(exit)) return end(0)
    // A service sets the exit code at its start, because a stop is its normal end.
    const interrupted = Cause.hasInterruptsOnly(exit.cause)
    end(interrupted ? Number(process.exitCode ?? 130) : getErrorExitCode(Cause.squash(exit.cause)))
  }
})
