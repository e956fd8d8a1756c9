// The HTTP status of an error in the dialect of the client.
// It must not know which errors exist beyond their facts.
import type { ErrorFacts } from "../../api/errorFacts.ts"

/** Anthropic's status of an overloaded model: its SDKs wait longer for 529 than for 503. */
const overloaded = 529

/** Google has no 402. Its clients stop at the QuotaFailure in the body. */
const spent = 402

/** The Messages API keeps 529, Google's has 429 for spent money; else every dialect gets the status of the table. */
export const statusFor = (
  { code, status }: Pick<ErrorFacts, "code" | "status">,
  envelope: "openai" | "anthropic" | "problem" | "google"
): number => {
  if (envelope === "google") return status === spent ? 429 : status
  return envelope === "anthropic" && code === "upstream_overloaded" ? overloaded : status
}
