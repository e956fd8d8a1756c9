// Builds the program, the console and the pages before the tests: from one bundle, as users install it, a start takes half
// the CPU time, and a module that is missing at its first import stays missing. Must not start it.
import { join } from "node:path"

const dir = join(import.meta.dirname, "../../.cache/program")

/** Programs that tests start from the sources share their compiled code here: half the CPU time of a start. */
export const sharedCode = { NODE_COMPILE_CACHE: join(import.meta.dirname, "../../.cache/compiled") }

/** The program that tests start in a process of its own. */
export const program = join(dir, "main.js")

/** Test files import the path alone, so the bundler is loaded here. */
export const setup = async (): Promise<void> => {
  const [{ build }, { default: config }, { builtConsole, builtGuides }] = await Promise.all([
    import("rolldown"),
    import("../build/program.ts"),
    import("../build/pages.ts")
  ])
  await Promise.all([build({ ...config, output: { ...config.output, dir } }), builtConsole(), builtGuides()])
}
