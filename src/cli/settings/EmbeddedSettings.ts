// Settings for an application that embeds the gateway: the same file and variables as `serve` reads.
// Must not know what settings are used for.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Settings } from "../../domain/settings/Settings.ts"
import { readConfiguration, warnOfCredentials } from "./LoadSettings.ts"

/** The configuration has faults: one line for each, with its place. */
export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  faults: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return this.faults.join("\n")
  }
}

/** The settings of a file, else of the file that `serve` finds, else of the environment alone. */
export const loadSettings = (file?: string): Effect.Effect<Settings, SettingsInvalid> =>
  Effect.flatMap(readConfiguration({ config: file, flags: {} }), ({ outcome }) =>
    Result.match(outcome, {
      onFailure: (text) => Effect.fail(new SettingsInvalid({ faults: text.split("\n") })),
      onSuccess: (loaded) => Effect.as(warnOfCredentials(loaded), loaded.settings)
    })
  )
