// The prefix `mgk_` that identifies a gateway key.
// It must not know where a request carries keys, or how keys are generated.

/**
 * Every generated key starts with this prefix. A value with it is treated as a gateway key in any header and is never
 * sent upstream.
 */
export const keyMark = "mgk_"
