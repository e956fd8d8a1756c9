#!/usr/bin/env node
// The process: a Node that is new enough, the command line, signals, the exit code.
// It must not know any verb. Everything but the version check is loaded after it, since an old Node could not.
import { nodeVersionFault } from "./cli/doctor/nodeVersion.ts"

const fault = nodeVersionFault(process.versions.node)
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}

await import("./cli/Engine.ts")
// Compiled code is kept between starts, where the temporary folder can be written.
const { enableCompileCache } = await import("node:module")
enableCompileCache()
await import("effect/schema/SchemaJITCompiler/enable")
const [{ runMain }, Cause, Exit, { getErrorExitCode }, { cli }] = await Promise.all([
  import("@effect/platform-node/NodeRuntime"),
  import("effect/Cause"),
  import("effect/Exit"),
  import("effect/Runtime"),
  import("./cli/Cli.ts")
])

let signals = 0
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143]
] as const) {
  // The first drains; whoever asks twice does not want to wait.
  process.on(signal, () => ++signals > 1 && process.exit(code))
}

runMain(cli(process.argv.slice(2)), {
  teardown: (exit, end) => {
    if (Exit.isSuccess(exit)) return end(0)
    // A service that had begun to listen sets the exit code itself: being stopped is how it ends.
    const interrupted = Cause.hasInterruptsOnly(exit.cause)
    end(interrupted ? Number(process.exitCode ?? 130) : getErrorExitCode(Cause.squash(exit.cause)))
  }
})
