// The calls between the first process and its workers, as plain JSON.
// Must not know how they are sent or answered.
import type { StateCalls } from "../../state/StateCalls.ts"
import type { SeriesValue } from "../../telemetry/AllSeries.ts"
import type { Call } from "../../workers/Link.ts"
import type { FilesCopy, LoadOptions } from "../settings/LoadSettings.ts"

/** The first message to a worker. */
export interface Begin {
  /** From 1. A process that replaces another has its number. */
  readonly worker: number
  readonly count: number
  readonly load: LoadOptions
  readonly copy: FilesCopy
  readonly port: number
  readonly adminPort: number | null
  /** The inference key that was made for this run; undefined until a worker has made what is missing. */
  readonly keys?: { readonly inference: string | null }
}

/** How many workers are ready, of how many. */
export interface Presence {
  readonly ready: number
  readonly count: number
}

/** What a worker sends once it serves. */
export interface Started {
  /** The start-up lines. */
  readonly lines: string
  readonly inference: string | null
}

/** What a worker asks of the first process. */
export interface PrimaryCalls extends StateCalls {
  readonly started: Call<Started, void>
  /** A record has changed: answered when the other workers have read it. */
  readonly changed: Call<null, void>
  /** The series of all processes as one. */
  readonly allSeries: Call<null, ReadonlyArray<SeriesValue>>
}

/** What the first process asks of a worker. */
export interface WorkerCalls {
  readonly ownSeries: Call<null, ReadonlyArray<SeriesValue>>
  readonly presence: Call<Presence, void>
  /** Reads the records of the store again. */
  readonly refresh: Call<null, void>
  /** Files of a configuration that the first process has found without faults. */
  readonly reload: Call<FilesCopy, void>
}
