// The first thing that is wrong with a body that its schema does not take.
// It must not know which body it is; a value is never repeated.
import type * as Schema from "effect/Schema"
import { BodyInvalid } from "./GatewayError.ts"
import { pathText } from "./json.ts"

type Issue = Schema.SchemaError["issue"]

/** The innermost fault of a decode and where it is; the first one is the only one. */
export const bodyFault = (error: Schema.SchemaError): BodyInvalid => faultOf(error.issue, [], error.message)

const faultOf = (issue: Issue, path: ReadonlyArray<PropertyKey>, told: string): BodyInvalid => {
  const param = pathText(path)
  switch (issue._tag) {
    case "Pointer":
      return faultOf(issue.issue, [...path, ...issue.path], told)
    case "Composite":
      return faultOf(issue.issues[0], path, told)
    case "Encoding":
      return faultOf(issue.issue, path, told)
    case "MissingKey":
      return new BodyInvalid({ code: "missing_required_parameter", param, message: `${param} is missing.` })
    case "InvalidType":
    case "AnyOf":
      return new BodyInvalid({ code: "invalid_type", param, message: `${param} has the wrong type: ${expected(told)}.` })
    default:
      return new BodyInvalid({ code: "invalid_value", param, message: `${param} has a value that is not taken.` })
  }
}

/** `expected boolean`: the first line of what the schema says, without our null. */
const expected = (told: string): string =>
  (told.split("\n")[0] ?? "").slice(0, 128).replace(" | null", "").replace(/^E/, "e")
