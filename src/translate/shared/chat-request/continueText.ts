// The user turn that follows a history whose last message is the assistant's, for models without prefill.
// Must not depend on an upstream.

/** Asks for the continuation of the last message. */
export const continueText = "Continue exactly where your last message stopped."
