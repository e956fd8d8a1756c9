// `demo`: the gateway in front of a simulated Google, in one process.
// It must not know what is simulated.
import { isIP } from "node:net"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Demo } from "../demo/Demo.ts"
import { banner, demoKey, snippets } from "../demo/seed.ts"
import { defaultServer } from "../domain/Settings.ts"
import { version } from "../domain/version.ts"
import { failed, type Failure } from "./Failure.ts"
import { makeKey } from "./FirstKeys.ts"
import { originOf, runGateway } from "./Serve.ts"

export interface DemoFlags {
  readonly host?: string
  readonly port?: number
  readonly snippets: boolean
}

/** Reachable from this machine only. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

export const demo = Effect.fn("Cli.demo")(function*(flags: DemoFlags): Effect.fn.Return<void, Failure> {
  const { host, port } = { ...defaultServer, ...flags }
  if (flags.snippets) {
    const facts = { origin: originOf(host, port), key: demoKey, version }
    yield* Console.log(snippets(facts).map(({ code, title }) => `--- ${title}\n${code}\n`).join("\n"))
    return
  }
  const key = isLoopback(host) ? demoKey : makeKey()
  yield* Effect.scoped(
    Demo.settings({ host, port, key }).pipe(
      Effect.mapError((error) => failed(error.message)),
      Effect.flatMap((settings) => runGateway({ ...settings, log: { format: process.stdout.isTTY ? "pretty" : "off" } }, (origin) => Console.error(banner({ origin, key, version }))))
    )
  )
})
