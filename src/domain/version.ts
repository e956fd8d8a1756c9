// The version the service says of itself; a test holds it against package.json.
// It must not know anything else.

export const version = "0.1.0"
