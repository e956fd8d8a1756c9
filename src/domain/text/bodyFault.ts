// Turns a schema error of a request body into the error answer for its first fault.
// It must not know which body it is, and it never quotes a value.
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { BodyInvalid } from "../GatewayError.ts"
import { isOutOfRange, outOfRange, pathText } from "./json.ts"

type Issue = Schema.SchemaError["issue"]

/** The innermost first fault of decoding `body`, with its path. */
export const bodyFault = (error: Schema.SchemaError, body: unknown): BodyInvalid =>
  faultOf(error.issue, [], { body, said: error.message })

type Decode<A> = (body: unknown) => Result.Result<A, Schema.SchemaError>

/**
 * Decodes a body whose numbers may be texts (`"0.7"`), integers beyond 2^53 or out of range: a number at the top that the
 * schema refuses becomes the nearest one. Other bodies are decoded once.
 */
export const decodeNumbers = <A>(decode: Decode<A>, body: object): Result.Result<A, BodyInvalid> => {
  const first = decode(body)
  if (Result.isSuccess(first)) return Result.succeed(first.success)
  let fault = bodyFault(first.failure, body)
  const read: object = { ...body }
  for (let left = Object.keys(body).length; left > 0; left--) {
    const name = fault.param ?? ""
    const value = isNumberFault(fault) ? nearestNumber(valueAt(read, [name])) : undefined
    if (value === undefined) break
    Reflect.set(read, name, value)
    const again = decode(read)
    if (Result.isSuccess(again)) return Result.succeed(again.success)
    fault = bodyFault(again.failure, read)
  }
  return Result.fail(fault)
}

const isNumberFault = ({ code, message }: BodyInvalid): boolean =>
  code === "invalid_type" ? message.includes("number") : message.endsWith(`${outOfRange}.`)

const nearestNumber = (value: unknown): number | undefined => {
  const text = typeof value === "string" ? value : isOutOfRange(value) ? JSON.stringify(value) : ""
  const number = typeof value === "number" ? value : text.trim() === "" ? Number.NaN : Number(text)
  return Number.isNaN(number) || (typeof value === "number" && Number.isFinite(value))
    ? undefined
    : Math.min(Math.max(number, -Number.MAX_VALUE), Number.MAX_VALUE)
}

/** The decoded value and the schema's error message. */
interface Decoded {
  readonly body: unknown
  readonly said: string
}

const faultOf = (issue: Issue, path: ReadonlyArray<PropertyKey>, decoded: Decoded): BodyInvalid => {
  const param = pathText(path)
  switch (issue._tag) {
    case "Pointer":
      return faultOf(issue.issue, [...path, ...issue.path], decoded)
    case "Composite":
      return faultOf(issue.issues[0], path, decoded)
    case "Encoding":
      return faultOf(issue.issue, path, decoded)
    case "MissingKey":
      return new BodyInvalid({ code: "missing_required_parameter", param, message: `${param} is missing.` })
    case "InvalidType":
    case "AnyOf": {
      const type = expected(decoded.said)
      return type.includes("number") && isOutOfRange(valueAt(decoded.body, path))
        ? outside(param)
        : new BodyInvalid({ code: "invalid_type", param, message: `${param} has the wrong type: ${type}.` })
    }
    case "Filter":
      if (isOutOfRange(valueAt(decoded.body, path))) return outside(param)
      break
  }
  return new BodyInvalid({ code: "invalid_value", param, message: `${param} has a value that is not taken.` })
}

const outside = (param: string): BodyInvalid =>
  new BodyInvalid({ code: "invalid_value", param, message: `${param} ${outOfRange}.` })

const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value
  )

/** `expected boolean`: the first line of the schema's message, without the null of optional fields. */
const expected = (said: string): string =>
  (said.split("\n")[0] ?? "").slice(0, 128).replace(" | null", "").replace(/^E/, "e")
