// Issues and verifies thought signatures: opaque base64 that belongs to one issuer (a Gemini service or Claude).
// It must not depend on requests or replies.
// Source: a signature of one issuer is "corrupted" or "invalid" for every other issuer.

import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { Backend } from "./generateRequest.ts"

const magic = Buffer.from([0x12, 0x9a, 0x5e, 0x51])
const key = "simulated Google services"
const length = magic.length + 1 + 11 + 16

export type Issuer = Backend | "claude"

const issuers: ReadonlyArray<Issuer | undefined> = [undefined, "google", "vertex", "claude"]

const seal = (head: Buffer): Buffer => createHmac("sha256", key).update(head).digest().subarray(0, 16)

/** The literal that makes the service skip the check. Source: Google's thought signature page. */
export const skipSignature = "skip_thought_signature_validator"

/** A signature for `seed`; the same seed gives the same signature. */
export const issueSignature = (issuer: Issuer, seed: string): string => {
  const nonce = createHash("sha256").update(seed).digest().subarray(0, 11)
  const head = Buffer.concat([magic, Buffer.from([issuers.indexOf(issuer)]), nonce])
  return Buffer.concat([head, seal(head)]).toString("base64")
}

/** The issuer of a signature; `foreign` for every other and for an altered one. */
export const signatureOwner = (signature: string): Issuer | "foreign" => {
  const bytes = Buffer.from(signature, "base64")
  if (bytes.length !== length || !bytes.subarray(0, magic.length).equals(magic)) return "foreign"
  const head = bytes.subarray(0, length - 16)
  if (!timingSafeEqual(seal(head), bytes.subarray(length - 16))) return "foreign"
  return issuers[head[magic.length] ?? 0] ?? "foreign"
}
