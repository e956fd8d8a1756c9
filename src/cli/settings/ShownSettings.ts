// The settings that the admin API shows: those of the start, with what reloads have taken over since.
// Must not know how settings are read.
import * as Layer from "effect/Layer"
import { ReadSettings } from "../../http/admin/AdminSettings.ts"

/** Sections whose new values a reload takes over; all others wait for a restart. */
const isReloaded = (name: string): boolean => /^(aliases|defaults|messages|models|models_file)(\.|$)/.test(name)

export interface ShownSettings {
  readonly layer: Layer.Layer<never>
  readonly reload: (read: ReadSettings) => void
}

export const shownSettings = (started: ReadSettings): ShownSettings => {
  let { origins } = started
  return {
    layer: Layer.succeed(ReadSettings, () => ({ file: started.file, origins })),
    reload: ({ origins: changed }) => {
      origins = [...origins.filter(({ name }) => !isReloaded(name)), ...changed.filter(({ name }) => isReloaded(name))]
    }
  }
}
