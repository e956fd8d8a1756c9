// Kills processes that write to the store, 300 times by default, and prints the faults it finds.
// Must not know the parts of a store.
import { crash } from "../support/crashes.ts"

const report = await crash(Number(process.argv[2] ?? 300), Math.random)
console.log(report)
process.exitCode = report.faults.length === 0 ? 0 : 1
