// The version the service reports; a test compares it with package.json.
// It must not know any other file.

export const version = "0.1.0"
