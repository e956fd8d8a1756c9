// A sink for log lines that several processes write to one pipe: lines of two processes do not mix.
// Must not know the content of a line.
import { Writable } from "node:stream"

/** Linux writes so many bytes to a pipe in one piece (PIPE_BUF). Longer writes may mix with those of other processes. */
const pieceBytes = 4 * 1024
const newline = 10

/** The end of the piece that starts here: after as many whole lines as fit, at least one. */
const endOfPiece = (lines: Buffer, start: number): number => {
  if (lines.length - start <= pieceBytes) return lines.length
  const last = lines.lastIndexOf(newline, start + pieceBytes - 1)
  if (last >= start) return last + 1
  const next = lines.indexOf(newline, start)
  return next < 0 ? lines.length : next + 1
}

/** Writes whole lines in pieces that arrive undivided. Only a line above 4 KiB may mix with others. */
export const lineSink = (sink: Writable): Writable =>
  new Writable({
    write: (lines: Buffer, _encoding, done) => {
      const next = (start: number): void => {
        if (start === lines.length) return done()
        const end = endOfPiece(lines, start)
        // The next piece waits for this one, because streams join pieces that wait.
        sink.write(lines.subarray(start, end), (error) => (error ? done(error) : next(end)))
      }
      next(0)
    }
  })
