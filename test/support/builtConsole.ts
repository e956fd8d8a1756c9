// Builds the console for tests, where the gateway looks for it.
// Must not know what it shows.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { build } from "rolldown"
import options from "../../rolldown.console.ts"

const dist = join(import.meta.dirname, "../../dist")

/** Test files run next to each other, so each moves a complete file into place. */
export const builtConsole = async (): Promise<void> => {
  mkdirSync(join(dist, "console"), { recursive: true })
  const folder = mkdtempSync(join(dist, "console-"))
  await build({ ...options, output: { ...options.output, dir: folder } })
  renameSync(join(folder, "console/bundle.js"), join(dist, "console/bundle.js"))
  rmSync(folder, { recursive: true })
}
