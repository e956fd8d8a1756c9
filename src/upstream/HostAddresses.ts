// Resolves all DNS addresses of a host, so that they can be checked before one of them is called.
// Must not know which addresses are allowed. Search domains and the hosts file are not used: a name has one meaning.
import { Resolver } from "node:dns/promises"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The IPv4 and IPv6 addresses; empty for a name without any, or when the look-up fails. */
export type HostAddresses = (host: string) => Effect.Effect<ReadonlyArray<string>>

/** Uses these DNS servers, or those of the machine. */
export const hostAddressesBy =
  (servers?: ReadonlyArray<string>): HostAddresses =>
  (host) =>
    Effect.callback((resume) => {
      const resolver = new Resolver()
      if (servers !== undefined) resolver.setServers(servers)
      const ofKind = (kind: "A" | "AAAA"): Promise<ReadonlyArray<string>> =>
        resolver.resolve(host, kind).catch(() => [])
      void Promise.all([ofKind("A"), ofKind("AAAA")]).then((both) => resume(Effect.succeed(both.flat())))
      return Effect.sync(() => resolver.cancel())
    })

export const HostAddresses: Context.Reference<HostAddresses> = Context.Reference<HostAddresses>(
  "gateway/upstream/HostAddresses",
  {
    defaultValue: () => hostAddressesBy()
  }
)
