// Makes foreign text fit to be shown: no credential, no control character, a bounded size.
// It must not know which message it ends up in.

/** Shapes of Google API keys, access tokens, our own and others' keys, JWTs and private keys. */
const secrets =
  /AIza[\w-]{35}|ya29\.[\w.-]+|mgk_\w+|sk-[\w-]{8,}|eyJ[\w-]+\.[\w-]*(?:\.[\w-]*)?|-----BEGIN[^-]*PRIVATE KEY-----[^-]*(?:-----END[^-]*-----)?/g

/** Text of an upstream as one line without secrets, at most `most` characters long. */
export const redactText = (text: string, most: number): string =>
  text
    // Twice the length, so that the cut does not leave half a secret unrecognised.
    .slice(0, most * 2)
    .replace(secrets, "<redacted>")
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .slice(0, most)
    .trim()
