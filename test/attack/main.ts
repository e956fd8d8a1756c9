// `npm run attack`: named attacks and generated requests against a running gateway; everything stays on loopback.
// Flags: --seed=N repeats a run, --requests=200000 is the long run, --only=NAME runs one attack alone.
import { setTimeout as pause } from "node:timers/promises"
import type { World } from "./attacks/attack.ts"
import { attacks } from "./attacks/all.ts"
import { findLeak } from "./canaries.ts"
import { call, closeIdleSockets, sendBytes, type Answer } from "./client.ts"
import { collect } from "./findings.ts"
import { startGateway } from "./gateway.ts"
import { generateRequest } from "./generator.ts"
import { judge, mostMillis, standingMillis } from "./judge.ts"
import { slowMillis, startSink, startTrap, startUpstream } from "./upstream.ts"

const flag = (name: string): string | undefined =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
const seed = Number(flag("seed") ?? Math.floor(Math.random() * 2 ** 31))
const requests = Number(flag("requests") ?? 20_000)
const only = flag("only")
const together = 24
/** Requests before the first memory sample: code is compiled and pools fill. */
const warm = Math.min(3_000, Math.floor(requests / 4))
/** Time limit of the generated requests in seconds. A run that stops early is a finding. */
const mostSeconds = Math.max(300, requests / 50)
/** Memory growth allowed for tables below their bounds, in MiB. */
const mostGrownMib = 24
/** Growth allowed for handles: idle connections of pools. */
const mostHandles = 40

const findings = collect()
const sink = await startSink((text) => {
  const secret = findLeak(text)
  if (secret !== undefined) findings.add(`shows ${secret}`, "spans and metrics of OpenTelemetry")
})
const upstream = await startUpstream()
const trap = await startTrap()
const gateway = await startGateway(upstream, sink.url)
const world: World = { gateway, upstream, trap }
console.log(`attack: seed ${seed}`)

const started = performance.now()
const statuses = new Map<number, number>()
const slow: Array<number> = []

const ask = (place: number): Promise<Answer> => {
  const { raw: bytes, request } = generateRequest(seed, place)
  return bytes === undefined ? call(gateway.port, request) : sendBytes(gateway.port, bytes)
}

const textOf = (body: string | Uint8Array | undefined): string =>
  typeof body === "string" ? body : Buffer.from(body ?? []).toString()

/** Model names that contain `slow` wait. */
const waitsOf = (body: unknown): number => (typeof body === "string" && body.includes("attack-slow") ? slowMillis : 0)

const look = (place: number, answer: Answer, cpu?: number): boolean => {
  const { raw: bytes, request } = generateRequest(seed, place)
  const { body, headers, leaveAfter, method, path } = request
  const { faults, isSlow } = judge(
    {
      method,
      path,
      asked: Object.keys(headers),
      waits: waitsOf(body),
      isBroken: bytes !== undefined,
      left: leaveAfter !== undefined,
      cpu,
      sent: textOf(body)
    },
    answer
  )
  for (const fault of faults) findings.add(fault, `request ${place}, ${method} ${path.slice(0, 60)}`)
  return isSlow && bytes === undefined
}

/** A few requests in parallel. A slow request is sent again alone, as a busy machine is no fault of the gateway. */
const generate = async (from: number, to: number): Promise<void> => {
  let next = from
  const one = async (): Promise<void> => {
    while (next < to && gateway.isAlive() && performance.now() - started < mostSeconds * 1_000) {
      const place = next++
      const answer = await ask(place)
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (look(place, answer)) slow.push(place)
    }
  }
  await Promise.all(Array.from({ length: together }, one))
}

const askSlowAgain = async (): Promise<void> => {
  for (const place of slow) {
    const { cpu, held, result: answer } = await gateway.measured(() => ask(place))
    if (look(place, answer, held > standingMillis ? cpu : undefined)) {
      findings.add(
        `twice slower than ${mostMillis} ms: ${answer.millis.toFixed(0)} ms, event loop still for ${held.toFixed(0)} ms, status ${answer.status}`,
        `request ${place}`
      )
    }
  }
}

const runAttacks = async (): Promise<number> => {
  let run = 0
  for (const { name, sentence, attack } of attacks) {
    if (only !== undefined && !name.includes(only)) continue
    run++
    const started = performance.now()
    const faults = await attack(world).catch((error: unknown) => [
      `the attack itself failed: ${error instanceof Error ? error.stack : String(error)}`
    ])
    for (const fault of faults) findings.add(fault, name)
    console.log(
      `attack: ${faults.length === 0 ? "held " : "BROKE"} ${name}: ${sentence} (${((performance.now() - started) / 1000).toFixed(1)} s)`
    )
    for (const fault of faults) console.log(`attack:       ${fault.slice(0, 300)}`)
  }
  return run
}

const settled = async (): Promise<{ readonly heap: number; readonly handles: number }> => {
  closeIdleSockets()
  await pause(1_500)
  return { heap: await gateway.heap(), handles: await gateway.handles() }
}

const searchFiles = (when: string): void => {
  for (const [name, text] of gateway.files()) {
    const secret = findLeak(text)
    if (secret !== undefined) findings.add(`holds ${secret}`, `${name} ${when}`)
    if (name === "stderr.log" && /internal_error|Unhandled|uncaught|TypeError|RangeError|at .*\.js:\d+/.test(text)) {
      findings.add(
        `stderr reports a defect: ${/^.*(?:internal_error|Unhandled|uncaught|TypeError|RangeError|at .*\.js:\d+).*$/m.exec(text)?.[0].slice(0, 300)}`,
        name
      )
    }
  }
}

if (only === undefined) await generate(0, warm)
const before = await settled()
const named = await runAttacks()
if (only === undefined) await generate(warm, requests)
await askSlowAgain()
const metrics = await call(gateway.port, { method: "GET", path: "/metrics", headers: {} })
const inMetrics = findLeak(metrics.body)
if (inMetrics !== undefined) findings.add(`shows ${inMetrics}`, "/metrics")
const after = await settled()
const grown = (after.heap - before.heap) / 2 ** 20
if (only === undefined && grown > mostGrownMib)
  findings.add(`${grown.toFixed(1)} MiB more in use than before, at most ${mostGrownMib}`, "memory")
if (after.handles - before.handles > mostHandles)
  findings.add(`${after.handles} handles open, ${before.handles} before`, "sockets")
const asked = [...statuses.values()].reduce((sum, times) => sum + times, 0)
if (only === undefined && asked < requests)
  findings.add(`${asked} of ${requests} requests were sent in ${mostSeconds} s`, "time")
if (!gateway.isAlive()) findings.add("the process has ended", "gateway")
for (const taken of trap.taken) {
  const secret = findLeak(taken)
  if (secret !== undefined) findings.add(`got ${secret}: ${taken.slice(0, 120)}`, "the trap")
}
searchFiles("while it ran")
await gateway.end()
searchFiles("when it had ended")
if (sink.count() === 0) findings.add("nothing was exported", "OpenTelemetry")

const table = [...statuses]
  .toSorted(([one], [other]) => one - other)
  .map(([status, times]) => `${status === 0 ? "none" : status} ${times}`)
  .join(", ")
console.log(
  `attack: ${named} attacks, ${asked} requests in ${((performance.now() - started) / 1000).toFixed(0)} s; answers: ${table}`
)
console.log(
  `attack: heap ${(before.heap / 2 ** 20).toFixed(1)} MiB before, ${(after.heap / 2 ** 20).toFixed(1)} MiB after; handles ${before.handles} before, ${after.handles} after; ${sink.count()} exports`
)
for (const line of findings.lines()) console.log(`attack: FOUND ${line}`)
console.log(
  findings.count() === 0
    ? "attack: nothing found"
    : `attack: ${findings.count()} findings; repeat with npm run attack -- --seed=${seed} --requests=${requests}`
)
gateway.remove()
await Promise.all([upstream.close(), trap.close(), sink.close()])
process.exit(findings.count() === 0 ? 0 : 1)
