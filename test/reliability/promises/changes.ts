// Proves that no acknowledged change of the admin API is lost: by kill -9 of its writers, or by a crash of PostgreSQL.
// Must not know how the store writes.
import { crash } from "../../support/crashes.ts"
import { randomOf } from "../../attack/random.ts"
import { setTimeout as pause } from "node:timers/promises"
import { admin, type Gateway, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { hasPostgres, startPostgres } from "../kit/postgres.ts"
import { type Figure, none, noteFaults, type Promised, type Run, shown } from "../proof.ts"

interface Acknowledged {
  readonly id: string
  readonly name: string
}

/** Makes and renames keys until it is stopped; a failed change is no promise. */
const writer = (gateway: Gateway, label: string) => {
  const acknowledged = new Map<string, Acknowledged>()
  const open = new Set<string>()
  let isRunning = true
  const done = (async () => {
    for (let n = 0; isRunning; n++) {
      try {
        const { id } = await admin<{ readonly id: string }>(gateway.port, "POST", "/keys", { name: `${label}-${n}` })
        acknowledged.set(id, { id, name: `${label}-${n}` })
        open.add(id)
        await admin(gateway.port, "PUT", `/keys/${id}`, { name: `${label}-${n}-renamed` })
        acknowledged.set(id, { id, name: `${label}-${n}-renamed` })
        open.delete(id)
      } catch {
        await pause(20)
      }
    }
  })()
  /** `open`: keys whose last change was not acknowledged, and may be there or not. */
  return {
    acknowledged,
    open,
    stop: () => {
      isRunning = false
      return done
    }
  }
}
type Writer = ReturnType<typeof writer>

const missing = async (gateway: Gateway, writers: ReadonlyArray<Writer>): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const { acknowledged, open } of writers) {
    for (const { id, name } of acknowledged.values()) {
      const key = await admin<{ readonly name: string }>(gateway.port, "GET", `/keys/${id}`).catch(() => undefined)
      if (key === undefined) faults.push(`${name} is gone`)
      else if (key.name !== name && !open.has(id)) faults.push(`${id} is ${key.name}, not ${name}`)
    }
  }
  return faults
}

/** Crashes PostgreSQL while two gateways write, and starts it again. */
const proveDatabase = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  if (!hasPostgres()) {
    run.note("left out: no initdb and pg_ctl, or no user to run them")
    return []
  }
  const random = randomOf(run.seed, 3)
  const crashes = run.isFull ? 10 : 3
  const place = makePlace()
  const postgres = await startPostgres()
  const settings = withKeys({ store: { url: postgres.url } })
  const gateways = [await startGateway(place, settings), await startGateway(place, settings)]
  const writers: Array<Writer> = []
  for (let round = 0; round < crashes; round++) {
    const some = gateways.map((gateway, at) => writer(gateway, `r${round}g${at}`))
    writers.push(...some)
    await pause(400 + random.below(600))
    await postgres.crash()
    await Promise.all(some.map(({ stop }) => stop()))
    await postgres.start()
  }
  const [first] = gateways
  for (let tries = 0; first !== undefined && tries < 100; tries++) {
    if (
      await admin(first.port, "GET", "/keys?limit=1").then(
        () => true,
        () => false
      )
    )
      break
    await pause(100)
  }
  // A process that was not there when the changes were made reads them from the database alone.
  const reader = await startGateway(place, settings)
  const faults = await missing(reader, writers)
  noteFaults(run, faults)
  await Promise.all([...gateways, reader].map((gateway) => gateway.kill()))
  await postgres.remove()
  place.remove()
  return [
    shown(
      `changes acknowledged before ${crashes} crashes of PostgreSQL`,
      writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0)
    ),
    none("acknowledged changes that such a crash lost", faults.length)
  ]
}

/** Kills a gateway while it makes keys over the admin API. */
const proveGateway = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const random = randomOf(run.seed, 4)
  const kills = run.isFull ? 50 : 6
  const place = makePlace()
  let gateway = await startGateway(place, withKeys({}))
  const writers: Array<Writer> = []
  for (let round = 0; round < kills; round++) {
    const some = [writer(gateway, `r${round}a`), writer(gateway, `r${round}b`)]
    writers.push(...some)
    await pause(100 + random.below(400))
    await gateway.kill()
    await Promise.all(some.map(({ stop }) => stop()))
    gateway = await gateway.again()
  }
  const faults = await missing(gateway, writers)
  noteFaults(run, faults)
  await gateway.kill()
  place.remove()
  return [
    shown(
      `changes acknowledged before ${kills} kills of a gateway`,
      writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0)
    ),
    none("acknowledged changes that a kill lost", faults.length)
  ]
}

/** Kills processes that write to one SQLite file, some of which rotate its keys. */
const proveWriters = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const random = randomOf(run.seed, 5)
  const { acknowledged, faults, kills } = await crash(run.isFull ? 300 : 24, random.next)
  noteFaults(run, faults)
  return [
    shown(`changes acknowledged before ${kills} kills of writers on one SQLite file`, acknowledged),
    none("faults of that file", faults.length)
  ]
}

export const changes: Promised = {
  id: "changes",
  sentence: "No acknowledged change of the admin API is lost, by a kill -9 or by a crash of the database.",
  prove: async (run) => [...(await proveGateway(run)), ...(await proveWriters(run)), ...(await proveDatabase(run))]
}
