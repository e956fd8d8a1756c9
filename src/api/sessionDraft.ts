// Error bodies of the console's sign-in, of changes by its sessions, and of foreign pages.
// It must not know cookies or the order of the checks.
import type { PageRefused, SessionRefused } from "../domain/GatewayError.ts"
import { type Draft, retryAfter } from "./drafts.ts"

/** Pages that read what needs no key under a name or origin that is not the gateway's. */
export const pageDraft = ({ reason }: PageRefused): Draft => ({
  status: 403,
  type: "permission_error",
  code: "foreign_page_refused",
  message:
    reason === "host"
      ? "Browsers do not read this under this host name, which could be made to point here; use an address, or list the name in server.console_hosts."
      : "Pages of another origin do not read this."
})

/** Sign-ins and changes that the console refuses. */
export const sessionDraft = ({ reason, retryMillis }: SessionRefused): Draft => {
  const forbidden = (message: string): Draft => ({
    status: 403,
    type: "permission_error",
    code: `console_${reason}_refused`,
    message
  })
  switch (reason) {
    case "credential":
      return {
        status: 401,
        type: "authentication_error",
        code: "console_sign_in_failed",
        message: "The admin key or the link is not valid; a link is valid once, for ten minutes after the start."
      }
    case "attempts":
      return {
        status: 429,
        type: "rate_limit_error",
        code: "console_sign_in_limited",
        message: "Too many sign-ins failed; wait a minute and try again.",
        headers: retryAfter(retryMillis)
      }
    case "host":
      return forbidden("The console is not used under this host name; list the name in server.console_hosts.")
    case "origin":
      return forbidden("The console takes requests of its own page only.")
    case "header":
      return forbidden("A change by a console session needs the header x-gateway-console.")
  }
}
