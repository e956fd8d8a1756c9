// Builds the gateway as the package contains it, once per run: the bench measures what users install.
// Must not know contestants.
import { writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { build } from "rolldown"
import config from "../build/program.ts"

const root = join(import.meta.dirname, "../..")

interface Built {
  /** The program. */
  readonly main: string
  /** `unwatched.ts`, bundled in the same way. */
  readonly unwatched: string
}

let making: Promise<Built> | undefined

const make = async (): Promise<Built> => {
  // Below node_modules, so that the bundle finds its packages. Checkouts that share their packages have a folder each.
  const dir = join(root, "node_modules", ".cache", `model-gateway-bench-${basename(root)}`)
  await build({
    ...config,
    input: { main: join(root, "src", "main.ts"), unwatched: join(import.meta.dirname, "unwatched.ts") },
    output: { ...config.output, dir }
  })
  // As in the package. Node otherwise compiles each file once more to learn what it is.
  writeFileSync(join(dir, "package.json"), '{"type":"module"}')
  return { main: join(dir, "main.js"), unwatched: join(dir, "unwatched.js") }
}

export const buildPrograms = (): Promise<Built> => (making ??= make())
