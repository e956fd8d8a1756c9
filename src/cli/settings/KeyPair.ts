// Whether a private key belongs to a certificate.
// It must not know where either was read.
import { createPrivateKey, X509Certificate } from "node:crypto"

/** True for a key that belongs to the first certificate; undefined where one of them cannot be read. */
export const isPair = (cert: string, key: string): boolean | undefined => {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return undefined
  }
}
