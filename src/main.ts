#!/usr/bin/env node
// The process: a Node that is new enough, the command line, signals, the exit code.
// It must not know any verb. Everything but the version check is loaded after it, since an old Node could not.
import { nodeVersionFault } from "./cli/nodeVersion.ts"

const fault = nodeVersionFault(process.versions.node)
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}

// V8 puts what often lives on among the old from the start. Part of a request is such at times, dies like the rest of it,
// and keeps that rest until the next large collection: small ones took five times as long, for a tenth of the CPU time.
const [{ setFlagsFromString }, { enableCompileCache }] = await Promise.all([import("node:v8"), import("node:module")])
setFlagsFromString("--no-allocation-site-pretenuring")
// An idle V8 collects what it can, compiled code too, and is slow for thousands of requests when traffic comes back.
setFlagsFromString("--memory-reducer-gc-count=0")
// Most places here meet more than four shapes, those of Effect's operations above all, and V8 looks up what it does not
// compile for them; and a request is one long way through small functions (`bench`, unary: 7 % of its CPU time).
setFlagsFromString("--max-valid-polymorphic-map-count=16")
setFlagsFromString("--max-inlined-bytecode-size-cumulative=3600")
// Compiled code is kept between starts, where the temporary folder can be written.
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
for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
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
