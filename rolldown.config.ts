// The program in a few files instead of two thousand: half the time to start, and two thirds of an idle process's memory.
// The library stays as it is. All that is built on Effect goes in, for a process may hold one Effect only; the other packages stay
// outside: undici cannot be put into one file, and the rest is loaded where it is configured.
import { defineConfig } from "rolldown"
import manifest from "./package.json" with { type: "json" }

const outside = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter((name) => name !== "effect" && !name.startsWith("@effect/"))

export default defineConfig({
  input: "src/main.ts",
  platform: "node",
  external: [/^node:/, ...outside.map((name) => new RegExp(`^${name}(?:/|$)`))],
  output: { dir: "dist", chunkFileNames: "program/[name].js" }
})
