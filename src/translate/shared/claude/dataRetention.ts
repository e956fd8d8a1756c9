// Recognises the refusal of models that need data retention (M-831).
// Must not depend on routes.
import type { Reason } from "../../../domain/ProviderError.ts"
import type { UpstreamError } from "../reply/upstreamError.ts"

const retentionTexts = /must have data retention enabled/i

/** A setting of the organisation, which no other request changes; undefined for another error. */
export const retentionRefusal = ({ message, text }: UpstreamError): Reason | undefined =>
  retentionTexts.test(text)
    ? {
        _tag: "PermissionDenied",
        code: "model_not_permitted",
        message: `${message} Enable 30 days of data retention for the organisation, or use another model.`
      }
    : undefined
