// The HTTP status of an error in the dialect of the client.
// It must not know which errors exist beyond their facts.
import type { ErrorFacts } from "../../api/errorFacts.ts"

/** Anthropic's status of an overloaded model: its SDKs wait longer for 529 than for 503. */
const overloaded = 529

/** The Messages API keeps 529; every other dialect gets the status of the table. */
export const statusFor = (
  { code, status }: Pick<ErrorFacts, "code" | "status">,
  envelope: "openai" | "anthropic" | "problem" | "google"
): number => (envelope === "anthropic" && code === "upstream_overloaded" ? overloaded : status)
