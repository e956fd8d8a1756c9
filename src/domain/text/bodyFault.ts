// The first thing that is wrong with a body that its schema does not take.
// It must not know which body it is; a value is never repeated.
import type * as Schema from "effect/Schema"
import { BodyInvalid } from "../GatewayError.ts"
import { isOutOfRange, outOfRange, pathText } from "./json.ts"

type Issue = Schema.SchemaError["issue"]

/** The innermost fault of a decode of `body` and where it is; the first one is the only one. */
export const bodyFault = (error: Schema.SchemaError, body: unknown): BodyInvalid =>
  faultOf(error.issue, [], { body, said: error.message })

/** What was decoded, and what the schema says of it. */
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

/** `expected boolean`: the first line of what the schema says, without our null. */
const expected = (said: string): string =>
  (said.split("\n")[0] ?? "").slice(0, 128).replace(" | null", "").replace(/^E/, "e")
