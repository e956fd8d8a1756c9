// Measures the CPU time of a chat, and of a response that is kept or not: `node test/bench/kept.ts`. No sockets.
// Must not be read as throughput. The store is a SQLite file; with `postgres` it is the server of TEST_POSTGRES_URL.
import "effect/schema/SchemaJITCompiler/enable"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomMasterText } from "../../src/store/Encryption.ts"
import { googleAccount } from "../support/account.ts"
import { databases } from "../support/databases.ts"
import { reply, stop } from "../support/gemini.ts"
import { gatewayOver, replying, type ScriptedGateway } from "../support/scripted.ts"
import { overRouter } from "../support/ways.ts"

const words = "The quick brown fox jumps over the lazy dog. ".repeat(10)
const usage = { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 100, totalTokenCount: 200 } }
const model = "@google/gemini-3.8-flash"
const chat = { model, messages: [{ role: "user", content: words }] }
const response = { model, input: words }

const requests = 4_000

/** CPU time of one request in microseconds, with so many at a time. */
const measured = async (gateway: ScriptedGateway, path: string, body: object, atOnce: number): Promise<number> => {
  let left = requests
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await gateway.post(path, body)
      if (answer.status !== 200) throw new Error(await answer.text())
      await answer.arrayBuffer()
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: atOnce }, client))
  const { system, user } = process.cpuUsage(before)
  gateway.seen.splice(0)
  return (system + user) / requests
}

const wanted = process.argv.includes("postgres") ? "PostgreSQL" : "SQLite"
const database = databases.find(({ name }) => name === wanted)
if (database === undefined) throw new Error("postgres needs TEST_POSTGRES_URL")

const run = Effect.gen(function* () {
  const location = yield* database.location
  const gateway = gatewayOver(() => replying(reply([{ text: words }], stop, usage)), {
    over: overRouter,
    accounts: [{ ...googleAccount, credentials: { _tag: "ApiKey", key: Redacted.make("AIzaSimulated") } }],
    settings: { store: { location, secretKeys: [Redacted.make(randomMasterText())], keyFile: "" } }
  })
  const round = (atOnce: number) =>
    Effect.promise(async () => [
      await measured(gateway, "/v1/chat/completions", chat, atOnce),
      await measured(gateway, "/v1/responses", { ...response, store: false }, atOnce),
      await measured(gateway, "/v1/responses", response, atOnce)
    ])
  yield* round(64)
  for (const atOnce of [1, 64, 64, 64]) {
    const [ofChat = 0, unkept = 0, kept = 0] = yield* round(atOnce)
    const share = (micros: number): string => `${micros.toFixed(0)} us (${(micros / ofChat).toFixed(2)})`
    console.log(`${wanted}, ${atOnce} at once: chat ${share(ofChat)}, response ${share(unkept)}, kept ${share(kept)}`)
  }
  yield* Effect.promise(gateway.dispose)
})

await Effect.runPromise(Effect.scoped(run))
process.exit()
