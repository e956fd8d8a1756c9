// Builds the console and the pages of the documentation below dist, where the gateway looks for them: `npm run pages`.
// Must not know what they show.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { build, type RolldownOptions } from "rolldown"
import consoleOptions from "./console.ts"
import guidesOptions from "./guides.ts"

const dist = join(import.meta.dirname, "../../dist")

/** Test files run next to each other, so each moves a complete file into place. */
const built = async (name: string, options: RolldownOptions): Promise<void> => {
  mkdirSync(join(dist, name), { recursive: true })
  const folder = mkdtempSync(join(dist, `${name}-`))
  await build({ ...options, output: { ...options.output, dir: folder } })
  renameSync(join(folder, `${name}/bundle.js`), join(dist, `${name}/bundle.js`))
  rmSync(folder, { recursive: true })
}

export const builtConsole = (): Promise<void> => built("console", consoleOptions)
export const builtGuides = (): Promise<void> => built("guides", guidesOptions)

if (import.meta.main) await Promise.all([builtConsole(), builtGuides()])
