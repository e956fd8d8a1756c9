// The version of Anthropic's API that Vertex AI is asked for, and fields of a newer version that it does not take.
// It must not know routes. Rule: M-830.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import type { JsonObject } from "../../../domain/text/json.ts"
import { vertexVersion } from "../../../wire/anthropic/Messages.ts"
import { invalid } from "../fault.ts"

/** The first version of the direct API that Vertex AI takes by its date. */
const firstDated = "2026-10-21"
const date = /^\d{4}-\d{2}-\d{2}$/

const isNewer = (version: unknown): version is string =>
  typeof version === "string" && date.test(version) && version >= firstDated

/** A dated version of the body or of the header counts from 2026-10-21 on; any other is the version of Vertex AI itself. */
export const claudeVersion = (ofBody: unknown, ofHeader: string | undefined): string =>
  isNewer(ofBody) ? ofBody : isNewer(ofHeader) ? ofHeader : vertexVersion

/** A conversation that Anthropic keeps is not there on Vertex AI; false asks for none. */
export const withoutThread = (body: JsonObject): Result.Result<JsonObject, BodyInvalid> =>
  body["thread"] === undefined || body["thread"] === null || body["thread"] === false
    ? Result.succeed(body)
    : invalid(
        "thread",
        "unsupported_parameter",
        "thread is not taken: Vertex AI keeps no conversations; send the whole history in messages, as the tool runner of Anthropic's SDK does with thread: false."
      )
