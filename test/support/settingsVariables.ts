// The environment variables that settings are read from.
// Must not depend on their meaning.
import * as Result from "effect/Result"
import { readSettings } from "../../src/cli/settings/readSettings.ts"

/** Every variable that the reader of the settings looks up. */
export const settingsVariables: ReadonlySet<string> = (() => {
  const asked = new Set<string>()
  // With an exporter more variables are read.
  const env = new Proxy<Record<string, string>>(
    {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:1",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://127.0.0.1:1"
    },
    {
      get: (set, name) => {
        asked.add(String(name))
        return set[String(name)]
      },
      getOwnPropertyDescriptor: (set, name) => {
        asked.add(String(name))
        return Object.getOwnPropertyDescriptor(set, name)
      }
    }
  )
  readSettings({
    // With an address of PostgreSQL those of libpq are read.
    file: { store: { url: "postgres:///" } },
    env,
    flags: {},
    fileText: () => Result.fail("no file"),
    places: { data: "data", resolve: (path) => path }
  })
  return asked
})()
