// Removes credentials from a recorded text: known values, fields that hold secrets, and texts with the form of a secret.
// It must not know where the text comes from, or where it is kept.
import { encodedSpellings, redacted } from "./redaction.ts"

/** Fields whose value is a secret, in JSON and in forms: those of OAuth 2 and of Google's key files. */
const fields = [
  "access_token",
  "api_key",
  "apiKey",
  "assertion",
  "client_secret",
  "id_token",
  "password",
  "private_key",
  "private_key_id",
  "refresh_token",
  "secret"
].join("|")

/** `"field": "value"`, and the same within a JSON string, where each quote has backslashes. */
const jsonField = new RegExp(String.raw`((\\{0,16})"(?:${fields})\2"\s*:\s*\2")(?:(?!\2")(?:\\.|[^\\]))*`, "gs")
const formField = new RegExp(String.raw`((?:^|[?&])(?:${fields}|key)=)[^&\s"#]*`, "g")

/**
 * Google's API keys and access tokens, bearer headers, JSON Web Tokens, keys of the gateway, and private keys. The
 * base64 of a thought signature has no dots, so it is none of them. Each pattern reads a text once: bodies are large.
 */
const forms: ReadonlyArray<RegExp> = [
  /AIza[\w-]{20,}/g,
  /ya29\.[\w.-]+/g,
  /\b1\/\/[\w-]{20,}/g,
  /\bGOCSPX-[\w-]+/g,
  /(?<=\b(?:bearer|basic)\s{1,4})[\w.~+/=-]{8,}/gi,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\bmgk_[\w-]{8,}/g,
  /\bsk-[\w-]{20,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs
]

/** The ways in which a value is written into a text: as it is, in JSON, in a URL, in base64 and in hex. */
const spellings = (value: string): ReadonlyArray<string> => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  ...encodedSpellings(value)
]

/** Shorter values are ordinary words. */
const leastLetters = 6

/** The text without credentials. `secrets` are values that the caller knows. */
export const scrub = (text: string, secrets: ReadonlyArray<string> = []): string => {
  let shown = text
  for (const spelling of new Set(secrets.filter(({ length }) => length >= leastLetters).flatMap(spellings)))
    shown = shown.replaceAll(spelling, redacted)
  shown = shown.replace(jsonField, `$1${redacted}`).replace(formField, `$1${redacted}`)
  return forms.reduce((kept, form) => kept.replace(form, redacted), shown)
}
