// Writes log lines in batches, concurrently with requests; where several processes share a pipe, in pieces that do not mix.
// Must not know the content of a line.
import { Writable } from "node:stream"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"

/** The destination of log lines. Writing to a pipe does not wait; a stalled reader costs lines, never requests. */
export const LogSink: Context.Reference<Writable> = Context.Reference<Writable>("gateway/telemetry/LogSink", {
  defaultValue: () => process.stdout
})

const batchMillis = 100
const batchLines = 500
const lastMillis = 1000
const newline = 10

/** Lines are kept as bytes. Two buffers take turns: one fills while the other is written. */
export class LogWriter {
  private readonly sink: Writable
  private filling: Buffer
  private spare: Buffer | undefined
  private length = 0
  private lines = 0
  private timer: NodeJS.Timeout | undefined
  private whenOut: () => void = () => undefined
  /** The number of lines dropped so far. */
  dropped = 0

  private constructor(sink: Writable, bytes: number) {
    this.sink = sink
    this.filling = Buffer.allocUnsafe(bytes)
    this.spare = Buffer.allocUnsafe(bytes)
    // A broken pipe is reported to the callback of the write; without a listener the error would end the process.
    sink.on("error", () => undefined)
  }

  /** A writer for the life of the scope. Closing the scope writes the waiting lines, for at most `lastMillis`. */
  static readonly make: Effect.Effect<LogWriter, never, Scope.Scope> = Effect.gen(function* () {
    const sink = yield* LogSink
    const { logBytes } = yield* Limits
    return yield* Effect.acquireRelease(
      Effect.sync(() => new LogWriter(sink, logBytes)),
      (writer) =>
        Effect.timeoutOption(
          Effect.callback<void>((resume) => writer.end(() => resume(Effect.void))),
          lastMillis
        )
    )
  })

  /** The number of waiting lines. */
  get depth(): number {
    return this.lines
  }

  /** Takes a line without its line break; a line without room in the buffer is dropped. */
  write(line: string): void {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    if (this.length + line.length * 3 >= this.filling.length) this.flush()
    if (this.length + line.length * 3 >= this.filling.length) {
      this.dropped++
      return
    }
    this.length += this.filling.write(line, this.length)
    this.filling[this.length++] = newline
    if (++this.lines === batchLines) this.flush()
    else this.timer ??= setTimeout(this.flush, batchMillis)
  }

  private readonly flush = (): void => {
    clearTimeout(this.timer)
    this.timer = undefined
    const { filling, length, lines, spare } = this
    if (length === 0 || spare === undefined) return
    this.spare = undefined
    this.filling = spare
    this.length = 0
    this.lines = 0
    this.sink.write(filling.subarray(0, length), (error) => {
      if (error) this.dropped += lines
      this.spare = filling
      if (this.length === 0) this.whenOut()
      else this.flush()
    })
  }

  private end(then: () => void): void {
    this.whenOut = then
    if (this.length === 0 && this.spare !== undefined) then()
    else this.flush()
  }
}

// A sink for log lines that several processes write to one pipe: lines of two processes do not mix.

/** Linux writes so many bytes to a pipe in one piece (PIPE_BUF). Longer writes may mix with those of other processes. */
const pieceBytes = 4 * 1024
const lineBreak = 10

/** The end of the piece that starts here: after as many whole lines as fit, at least one. */
const endOfPiece = (lines: Buffer, start: number): number => {
  if (lines.length - start <= pieceBytes) return lines.length
  const last = lines.lastIndexOf(lineBreak, start + pieceBytes - 1)
  if (last >= start) return last + 1
  const next = lines.indexOf(lineBreak, start)
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
