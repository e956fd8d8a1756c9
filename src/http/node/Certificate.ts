// The certificate of this process's servers, which a reload replaces while they listen.
// It must not depend on where the certificate was read, or on a server.
import * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import type { ServerTls } from "../../domain/settings/network.ts"

/** What Node's TLS takes. */
interface SecureContext {
  readonly cert: string
  readonly key: string
}

/** One certificate for all servers of a process. */
export class ServedCertificate {
  private tls: ServerTls
  private readonly listeners = new Set<(context: SecureContext) => void>()

  constructor(tls: ServerTls) {
    this.tls = tls
  }

  get current(): SecureContext {
    return { cert: this.tls.cert, key: Redacted.value(this.tls.key) }
  }

  /** Handshakes from now on have the new one; open connections stay. */
  replace(tls: ServerTls): void {
    this.tls = tls
    for (const listener of this.listeners) listener(this.current)
  }

  /** Returns what ends it. */
  follow(listener: (context: SecureContext) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

/** Undefined where the servers speak plain HTTP. */
export const Certificate = Context.Reference<ServedCertificate | undefined>("gateway/http/Certificate", {
  defaultValue: () => undefined
})
