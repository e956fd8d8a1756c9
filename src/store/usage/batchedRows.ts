// The rows of a stored batch of requests, each with its position in the whole list.
// Must not know queries.
import * as Result from "effect/Result"
import type { RequestRow } from "../../domain/RequestRow.ts"
import { parseJsonText } from "../../domain/text/json.ts"
import { type PackedRow, unpackRow } from "../packedRow.ts"

/** A row's position is its batch's position times this number, plus its index in the batch. */
export const rowsPerPosition = 1000

export interface Batch {
  readonly position: number
  readonly packed: string
}

export interface PositionedRow {
  readonly position: number
  readonly row: RequestRow
}

/** `RequestBatch` wrote the text, so it has the form of packed rows. */
const packedRows = ({ packed }: Pick<Batch, "packed">): ReadonlyArray<PackedRow> => {
  const value: unknown = Result.getOrThrow(parseJsonText(packed))
  return value as ReadonlyArray<PackedRow>
}

/** The rows of the text of a batch, the oldest first. */
export const readRows = (packed: string): ReadonlyArray<RequestRow> => packedRows({ packed }).map(unpackRow)

/** The rows of a batch, the latest first. */
export const positionedRows = (batch: Batch): ReadonlyArray<PositionedRow> =>
  packedRows(batch)
    .map((row, at) => ({ position: batch.position * rowsPerPosition + at, row: unpackRow(row) }))
    .toReversed()

/** The latest rows of a batch, the last one first. */
export const latestRows = (batch: Batch, most: number): ReadonlyArray<RequestRow> => {
  const packed = packedRows(batch)
  return packed
    .slice(Math.max(0, packed.length - most))
    .map(unpackRow)
    .toReversed()
}
