// What tells a gateway key from a provider's.
// It must not know where keys stand in a request, or how they are made.

/** Every key the gateway makes begins so. A value that does is a gateway key wherever it stands, and never goes upstream. */
export const keyMark = "mgk_"
