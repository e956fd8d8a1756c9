// The console of a started gateway: its one-time code, and the link with it that the start-up lines print.
// Must not know sessions.
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import type { ConsoleSetting, Settings } from "../domain/settings/Settings.ts"

/** Settings with a console. */
export interface Linked {
  readonly settings: Settings
  /** The start-up lines about the console; none where it is off. `origin` is that of the port it is on. */
  readonly lines: (origin: string) => ReadonlyArray<string>
}

const withSetting = (settings: Settings, console: ConsoleSetting): Settings => ({
  ...settings,
  server: { ...settings.server, console }
})

/** A console that takes the link of another process on the store, unless it is off. */
export const withConsole = (settings: Settings): Linked => {
  const { console: written } = settings.server
  return {
    settings: written === false ? settings : withSetting(settings, { hosts: written?.hosts ?? [] }),
    lines: () => []
  }
}

/** A console that takes a fresh code once, unless it is off. */
export const withLink = (settings: Settings): Linked => {
  const { console: written } = settings.server
  if (written === false) return withConsole(settings)
  const code = randomBytes(32).toString("base64url")
  return {
    settings: withSetting(settings, { hosts: written?.hosts ?? [], code: Redacted.make(code) }),
    lines: (origin) => [`Console  ${origin}/console/#code=${code}   valid once, for 10 minutes`]
  }
}

/** A console that signs pages in by itself, for a demo that only this machine can reach. */
export const withOpenConsole = (settings: Settings): Linked => ({
  settings: withSetting(settings, { hosts: [], isOpen: true }),
  lines: (origin) => [`Console  ${origin}/console/`]
})
