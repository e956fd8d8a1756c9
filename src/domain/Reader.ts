// Reads the parts of one input and keeps the first fault, so that a caller reads everything and asks once.
// It must not know what is read, or where it came from.
import * as Result from "effect/Result"
import { BodyInvalid, type RequestFault } from "./GatewayError.ts"

/** One object per input, without a `Result` per part. A faulty part reads as absent. */
export class Reader<Fault = RequestFault> {
  /** The first fault in the order of reading. */
  fault: Fault | BodyInvalid | undefined = undefined

  /** Keeps the fault, unless an earlier part has one. */
  refuse(fault: Fault | BodyInvalid): undefined {
    this.fault ??= fault
  }

  /** Refuses a part, with a stable code and a message that explains how to correct it. */
  invalid(param: string, code: string, message: string): undefined {
    // An error collects its stack, so none is made for a second fault.
    if (this.fault === undefined) this.fault = new BodyInvalid({ code, param, message })
  }

  /** The value of a result, or `absent` in the place of a fault. */
  take<A>(read: Result.Result<A, Fault | BodyInvalid>): A | undefined
  take<A>(read: Result.Result<A, Fault | BodyInvalid>, absent: A): A
  take<A>(read: Result.Result<A, Fault | BodyInvalid>, absent?: A): A | undefined {
    if (Result.isSuccess(read)) return read.success
    this.refuse(read.failure)
    return absent
  }

  /** The entries after `read`, without the absent ones. After the first fault no entry is read. */
  each<Entry, A>(entries: ReadonlyArray<Entry>, read: (entry: Entry, index: number) => A | undefined): Array<A> {
    const out: Array<A> = []
    for (const [index, entry] of entries.entries()) {
      if (this.fault !== undefined) break
      const value = read(entry, index)
      if (value !== undefined) out.push(value)
    }
    return out
  }

  /** The end of a reading: the first fault, or else the value. */
  result<A>(value: A): Result.Result<A, Fault | BodyInvalid> {
    return this.fault === undefined ? Result.succeed(value) : Result.fail(this.fault)
  }
}

/** What `read` reads, or its first fault. */
export const reading = <A>(read: (reader: Reader) => A): Result.Result<A, RequestFault> => {
  const reader = new Reader()
  return reader.result(read(reader))
}
