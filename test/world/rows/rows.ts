// All reports of the world.
// Must not hold a report itself.
import type { Row } from "../row.ts"
import { media } from "./media.ts"
import { refusals } from "./refusals.ts"

export const rows: ReadonlyArray<Row> = [...media, ...refusals]
