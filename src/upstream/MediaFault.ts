// Why media URLs were not fetched, and the message for the client.
// Must not know requests. No host, path or text of a host enters a message.
import * as Data from "effect/Data"
import { faultReason, type FaultKind } from "./TransportFault.ts"

export type MediaFaultKind =
  /** The name has no address, or not only public ones. The client must not learn which of the two. */
  | { readonly kind: "no_public_address" }
  | { readonly kind: "redirect" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "type" }
  | { readonly kind: "empty" }
  | { readonly kind: "too_large"; readonly limitBytes: number }
  | { readonly kind: "too_many"; readonly limit: number }
  | { readonly kind: "timeout" }
  | { readonly kind: "transport"; readonly fault: FaultKind }

export class MediaFault extends Data.TaggedError("MediaFault")<{ readonly why: MediaFaultKind }> {}

/** The reason and the remedy. */
export const mediaFaultText = (why: MediaFaultKind): string => {
  switch (why.kind) {
    case "no_public_address":
      return "The host of this URL has no public address."
    case "redirect":
      return "This URL answers with a redirect, which is not followed: send the address it leads to."
    case "status":
      return `This URL answers with status ${why.status}: it must be readable without a login.`
    case "type":
      return "This URL does not hold an image, a PDF or text."
    case "empty":
      return "This URL holds nothing."
    case "too_large":
      return `The media at the URLs of a request may have ${why.limitBytes} bytes in all; these have more.`
    case "too_many":
      return `A request may name ${why.limit} media URLs; this one names more.`
    case "timeout":
      return "What this URL holds did not come in the time allowed."
    case "transport":
      return faultReason({ kind: why.fault }, { name: "The host of this URL" }).message
  }
}
