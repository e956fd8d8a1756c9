// The gateway as a package holds it, made once a run: what is measured is what is installed.
// It must not know who starts it.
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import config from "../rolldown.config.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")

interface Built {
  /** The program. */
  readonly main: string
  /** `unwatched.ts`, put together in the same way. */
  readonly unwatched: string
}

let making: Promise<Built> | undefined

const make = async (): Promise<Built> => {
  // Its packages are found from there.
  const dir = join(root, "node_modules", ".cache", "model-gateway-bench")
  await build({
    ...config,
    input: { main: join(root, "src", "main.ts"), unwatched: join(root, "bench", "unwatched.ts") },
    output: { ...config.output, dir }
  })
  return { main: join(dir, "main.js"), unwatched: join(dir, "unwatched.js") }
}

export const built = (): Promise<Built> => (making ??= make())
