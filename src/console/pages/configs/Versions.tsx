// The stored versions of a config: what one differs in from the newest, and going back to it.
// Must not know how versions are kept.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { ConfigRow } from "../../AdminClient.ts"
import { dayAndClock } from "../../format.ts"
import { Difference } from "../../parts/Difference.tsx"
import { messageOf } from "../../parts/Query.ts"
import { configVersion } from "./ConfigCalls.ts"

const printed = ({ config }: ConfigRow): string => JSON.stringify(config, null, 2)
interface VersionsProps {
  readonly row: ConfigRow
  /** Saves the config of an older version as the newest. */
  readonly restore: (old: ConfigRow) => void
}

export const Versions = ({ restore, row }: VersionsProps) => {
  const older = (row.versions ?? []).filter((version) => version !== row.version).toReversed()
  const chosen = useSignal(older[0])
  const old = useSignal<ConfigRow | undefined>(undefined)
  const fault = useSignal("")
  const load = async (): Promise<void> => {
    old.value = undefined
    fault.value = ""
    if (chosen.value === undefined) return
    try {
      old.value = await configVersion(row.id, chosen.value)
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void load(), [chosen.value])
  const shown = old.value
  return (
    <section class="card stack">
      <h2>Versions</h2>
      {older.length === 0 ? <p class="muted">There is no older one. Each save makes a version.</p> : null}
      {older.length === 0 ? null : (
        <div class="actions">
          <label>
            Compare with
            <select value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
              {older.map((version) => (
                <option key={version} value={version}>
                  {version}
                </option>
              ))}
            </select>
          </label>
          {shown === undefined ? null : (
            <>
              <span class="muted">saved {dayAndClock(shown.updated_at ?? "")}</span>
              <button type="button" onClick={() => restore(shown)}>
                Roll back to {shown.version}
              </button>
            </>
          )}
        </div>
      )}
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {shown === undefined ? null : <Difference before={printed(shown)} after={printed(row)} isShort />}
    </section>
  )
}
