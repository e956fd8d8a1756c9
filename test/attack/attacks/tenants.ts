// Attacks of one key on what others have: what is kept for them, and their shares.
// Must not run an attack.
import { setTimeout as pause } from "node:timers/promises"
import type { KeyName } from "../canaries.ts"
import { type Attack, ask, describeAnswer, flash, holds, json, type World } from "./attack.ts"

const keepResponse = async (world: World, key: KeyName, input: string): Promise<string> => {
  const answer = await ask(world, { key, path: "/v1/responses", body: { model: flash, input } })
  return String(json(answer)["id"])
}

/** Fills the store of responses until its sweep has removed one. */
const keptResponses = async (world: World): Promise<ReadonlyArray<string>> => {
  const readKept = (key: KeyName, id: string) => ask(world, { key, path: `/v1/responses/${id}` })
  const kept = await keepResponse(world, "other", "Hello")
  const ids: Array<string> = []
  for (let count = 0; count < 12; count++) ids.push(await keepResponse(world, "plain", "x".repeat(2_000_000)))
  const isSwept = async () => (await readKept("plain", ids[0] ?? "")).status === 404
  for (let tries = 0; tries < 200 && !(await isSwept()); tries++) await pause(20)
  const [first, last, other] = [
    await readKept("plain", ids[0] ?? ""),
    await readKept("plain", ids.at(-1) ?? ""),
    await readKept("other", kept)
  ]
  return [
    ...holds(first.status === 404, `the store is not bounded: ${describeAnswer(first)}`),
    ...holds(last.status === 200, `the latest response of the key itself answered ${describeAnswer(last)}`),
    ...holds(other.status === 200, `the response of another key answered ${describeAnswer(other)}`)
  ]
}

/** A page whose name points to the gateway: of the same origin for its browser, which adds no header of a site. */
const rebound = async (world: World): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const path of ["/metrics", "/health/ready"]) {
    const read = (headers: Readonly<Record<string, string>>) =>
      ask(world, { path, headers: { "x-gateway-api-key": "", ...headers } })
    const page = await read({ host: `evil.example:${world.gateway.port}`, "accept-language": "" })
    const scraper = await read({ host: "gateway.monitoring.svc:8787" })
    faults.push(
      ...holds(!/gateway_|checks/.test(page.body), `${path} of a rebound name: ${describeAnswer(page)}`),
      ...holds(/gateway_|checks/.test(scraper.body), `${path} of a scraper: ${describeAnswer(scraper)}`)
    )
  }
  return faults
}

export const tenants: ReadonlyArray<Attack> = [
  { name: "kept-responses", sentence: "a key that fills the store of responses loses its own", attack: keptResponses },
  { name: "rebound-names", sentence: "a page of a rebound name reads no metrics and no states", attack: rebound }
]
