// An HTTP status with the color of its class.
// Must not know where it comes from.

const colorOf = (code: number): string => (code < 400 ? "good" : code < 500 ? "warn" : "bad")

export const Status = ({ code }: { readonly code: number }) => <span class={`status ${colorOf(code)}`}>{code}</span>
