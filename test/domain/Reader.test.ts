// Tests the reader of inputs: the first fault, lists, results.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { BodyInvalid, UnsupportedParameter } from "../../src/domain/GatewayError.ts"
import { Reader, reading } from "../../src/domain/Reader.ts"

const fault = (param: string) => new BodyInvalid({ code: "invalid_type", param, message: `${param} is wrong.` })
const refuse = (reader: Reader, param: string) => reader.invalid(param, "invalid_type", `${param} is wrong.`)

describe("reader", () => {
  it("reader: keeps the first of several faults", () => {
    const reader = new Reader()
    expect(refuse(reader, "a")).toBeUndefined()
    reader.refuse(new UnsupportedParameter({ param: "b", message: "b is not supported." }))
    refuse(reader, "c")
    expect(reader.fault).toEqual(fault("a"))
  })
  it("reader: takes the value of a result, and what is absent in the place of a fault", () => {
    const reader = new Reader()
    expect([reader.take(Result.succeed(1)), reader.take(Result.succeed(1), 2), reader.fault]).toEqual([1, 1, undefined])
    expect([reader.take(Result.fail(fault("a"))), reader.take(Result.fail(fault("b")), 2)]).toEqual([undefined, 2])
    expect(reader.fault).toEqual(fault("a"))
  })
  it("reader: leaves absent entries of a list out, and reads none after a fault", () => {
    const reader = new Reader()
    expect(reader.each([1, 2, 3], (entry, index) => (entry === 2 ? undefined : `${index}:${entry}`))).toEqual([
      "0:1",
      "2:3"
    ])
    const entries: Array<number> = []
    const read = (entry: number) => {
      entries.push(entry)
      return entry === 2 ? refuse(reader, "two") : entry
    }
    expect(reader.each([1, 2, 3], read)).toEqual([1])
    expect(reader.each([4], read)).toEqual([])
    expect(entries).toEqual([1, 2])
  })
  it("reader: ends in its value, or in the first fault", () => {
    expect(reading(() => 1)).toEqual(Result.succeed(1))
    expect(reading((reader) => [refuse(reader, "a"), refuse(reader, "b")])).toEqual(Result.fail(fault("a")))
  })
})
