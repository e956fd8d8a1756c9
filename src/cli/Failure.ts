// The end of a command that did not work: what to say, and the exit code.
// It must not know which command it was.
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { StoreUnusable } from "../store/Sql.ts"

/** 1: it failed. 2: usage or configuration. */
export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  code: Schema.Literals([1, 2]),
  /** Lines for stderr; already said when empty. */
  message: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
}

/** Wrong flags or a wrong configuration. */
export const usage = (message: string): Failure => new Failure({ code: 2, message })

/** Everything else. */
export const failed = (message: string): Failure => new Failure({ code: 1, message })

/** A store that cannot be used: by its configuration, or as it is. */
export const storeFailure = ({ isUninstalled, message }: StoreUnusable): Failure =>
  isUninstalled === true ? usage(message) : failed(message)
