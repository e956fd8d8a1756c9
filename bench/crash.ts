// Kills processes that write to the store, 300 times unless told otherwise, and prints what it found.
// It must not know what a store is made of.
import { crash } from "../test/support/crashes.ts"

const report = await crash(Number(process.argv[2] ?? 300), Math.random)
console.log(report)
process.exitCode = report.faults.length === 0 ? 0 : 1
