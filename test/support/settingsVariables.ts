// The environment variables that settings are read from.
// Must not depend on their meaning.
import * as Result from "effect/Result"
import { readSettings } from "../../src/cli/settings/readSettings.ts"

/** Every variable that the reader of the settings looks up. */
export const settingsVariables: ReadonlySet<string> = (() => {
  const asked = new Set<string>()
  const note = (name: string | symbol): undefined => void asked.add(String(name))
  readSettings({
    file: null,
    env: new Proxy({}, { get: (_, name) => note(name), getOwnPropertyDescriptor: (_, name) => note(name) }),
    flags: {},
    fileText: () => Result.fail("no file")
  })
  return asked
})()
