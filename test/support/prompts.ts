// Prompts of a configuration, for tests.
// Must not depend on the content of a prompt.
import * as Result from "effect/Result"
import { readSettings } from "../../src/cli/settings/readSettings.ts"
import type { JsonObject } from "../../src/domain/text/json.ts"
import type { Prompt } from "../../src/domain/Prompt.ts"

/** The prompts of a `prompts:` section; a fault in it fails the test. */
export const promptsOf = (entries: ReadonlyArray<JsonObject>): ReadonlyArray<Prompt> => {
  const read = readSettings({
    file: { prompts: entries },
    env: {},
    flags: {},
    fileText: () => Result.fail("there are no files")
  })
  return Result.getOrThrowWith(read, (faults) => new Error(JSON.stringify(faults))).prompts ?? []
}
