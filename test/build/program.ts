// The program in a few files instead of two thousand: half the time to start, and two thirds of an idle process's memory.
// The library stays as it is. All that is built on Effect goes in, for a process may hold one Effect only; the other packages stay
// outside: undici cannot be put into one file, and the rest is loaded where it is configured.
import http from "node:http"
import { defineConfig } from "rolldown"
import manifest from "../../package.json" with { type: "json" }

const outside = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter(
  (name) => name !== "effect" && !name.startsWith("@effect/")
)

/**
 * Imported as an ES module, `node:http` also exports WebSocket, and for that Node loads its own undici: 11 MiB and 40 ms of each
 * start. So the program takes it as a CommonJS module has it.
 */
const httpWithoutWebSocket = {
  name: "http-without-web-socket",
  resolveId: (id: string) => (id === "node:http" || id === "http" ? "\0http" : undefined),
  load: (id: string) => {
    if (id !== "\0http") return undefined
    const names = Object.keys(http).filter((name) => !["CloseEvent", "MessageEvent", "WebSocket"].includes(name))
    return `const http = process.getBuiltinModule("node:http")\nexport default http\nexport const { ${names.join(", ")} } = http`
  }
}

export default defineConfig({
  input: "src/main.ts",
  platform: "node",
  plugins: [httpWithoutWebSocket],
  external: [/^node:(?!http$)/, ...outside.map((name) => new RegExp(`^${name}(?:/|$)`))],
  output: {
    dir: "dist",
    chunkFileNames: "program/[name].js",
    // What most verbs share of Effect is one file. In a file for each set of verbs it would be twenty, each resolved by each importer.
    codeSplitting: { groups: [{ name: "effect", test: /node_modules/, minShareCount: 3 }] }
  }
})
