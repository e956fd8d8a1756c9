// The failure of a command: its message and its exit code.
// Must not know which command failed.
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { StoreUnusable } from "../store/database/Sql.ts"

/** Exit code 1: the command failed. Exit code 2: wrong flags or a wrong configuration. */
export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  code: Schema.Literals([1, 2]),
  /** Lines for stderr. Empty when they are already printed. */
  message: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
}

/** A failure for wrong flags or a wrong configuration. */
export const usageFailure = (message: string): Failure => new Failure({ code: 2, message })

/** A failure for everything else. */
export const commandFailure = (message: string): Failure => new Failure({ code: 1, message })

/** A failure for a store that cannot be used. A missing package counts as a configuration fault. */
export const storeFailure = ({ isUninstalled, message }: StoreUnusable): Failure =>
  isUninstalled === true ? usageFailure(message) : commandFailure(message)
