// Tests the pieces in which log lines of several processes are written.
// Must not depend on the content of a line.
import { Writable } from "node:stream"
import { expect, it } from "vitest"
import { lineSink } from "../../src/telemetry/LogWriter.ts"

/** The lengths of the pieces, and the result of the write. */
const written = (text: string, fault?: Error): Promise<readonly [ReadonlyArray<number>, string | undefined]> =>
  new Promise((resolve) => {
    const pieces: Array<number> = []
    const inner = new Writable({
      write: (piece: Buffer, _encoding, done) => {
        pieces.push(piece.length)
        done(fault)
      }
    })
    inner.on("error", () => undefined)
    const outer = lineSink(inner)
    outer.on("error", () => undefined)
    outer.write(text, (error) => resolve([pieces, error?.message]))
  })

const line = (bytes: number): string => `${"x".repeat(bytes - 1)}\n`

it("line sink: writes whole lines in pieces of at most 4 KiB, and a longer line alone", async () => {
  expect(await written(line(100))).toEqual([[100], undefined])
  expect(await written(line(2_000).repeat(5))).toEqual([[4_000, 4_000, 2_000], undefined])
  expect(await written(line(4_096) + line(4_097) + line(1))).toEqual([[4_096, 4_097, 1], undefined])
  expect(await written("x".repeat(5_000))).toEqual([[5_000], undefined])
})

it("line sink: reports a failed write", async () => {
  expect(await written(line(3_000).repeat(2), new Error("broken pipe"))).toEqual([[3_000], "broken pipe"])
})
