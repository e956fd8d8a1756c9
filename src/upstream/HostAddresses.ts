// The addresses of a host by the name system itself, all of them, so that they can be looked at before one is called.
// It must not know which are allowed. Search domains and the hosts file take no part: a name means the same everywhere.
import { Resolver } from "node:dns/promises"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** IPv4 and IPv6; a name without any has none, for whatever reason. */
export type HostAddresses = (host: string) => Effect.Effect<ReadonlyArray<string>>

/** By these servers, or by those the machine asks. */
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
