// The load generator: sockets, closed loops, clients that stop reading or leave. Runs as its own process.
// Must not know contestants. Jobs are messages from the parent. Calls loopback only.
import { connect, type Socket } from "node:net"

/** The address and the request. The request is encoded once. */
export interface Target {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Job =
  | { readonly kind: "loop"; readonly target: Target; readonly connections: number; readonly millis: number }
  | { readonly kind: "latency"; readonly target: Target; readonly count: number; readonly until: "end" | "first" }
  | { readonly kind: "paced"; readonly target: Target; readonly connections: number; readonly millis: number }
  | { readonly kind: "open"; readonly target: Target; readonly count: number; readonly stopReading: boolean }
  | { readonly kind: "leave" }

export interface LoadResult {
  readonly done: number
  readonly failed: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Of `leave`: the time in microseconds of the monotonic clock. */
  readonly leftMicros: number
}

const nowMicros = (): number => Number(process.hrtime.bigint() / 1000n)

const requestBytes = (target: Target): Buffer => {
  const headers = Object.entries({
    host: `127.0.0.1:${target.port}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(target.body)),
    ...target.headers
  })
  return Buffer.from(
    `POST ${target.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${target.body}`
  )
}

const headerEnd = Buffer.from("\r\n\r\n")
const lastChunk = "0\r\n\r\n"

interface Watch {
  /** Called on the first byte of the body. */
  readonly onFirst: () => void
  readonly onBytes: (bytes: Buffer) => void
  readonly onEnd: (ok: boolean) => void
}

/** One keep-alive connection. `send` starts a request, `watch` receives its answer. */
const client = (target: Target, watch: Watch): { readonly send: () => void; readonly socket: Socket } => {
  const bytes = requestBytes(target)
  const socket = connect({ port: target.port, host: "127.0.0.1", noDelay: true })
  let head: Buffer | undefined = Buffer.alloc(0)
  let left: number | undefined
  let ok = false
  let tail = ""
  let begun = false
  let waiting = false
  const finish = (good: boolean): void => {
    if (!waiting) return
    waiting = false
    watch.onEnd(good)
  }
  const body = (part: Buffer): void => {
    if (part.length > 0 && !begun) {
      begun = true
      watch.onFirst()
    }
    watch.onBytes(part)
    if (left !== undefined) {
      left -= part.length
      if (left <= 0) finish(ok)
      return
    }
    tail = (tail + part.subarray(-5).toString("latin1")).slice(-5)
    if (tail === lastChunk) finish(ok)
  }
  socket.on("data", (part) => {
    if (head === undefined) return body(part)
    head = head.length === 0 ? part : Buffer.concat([head, part])
    const end = head.indexOf(headerEnd)
    if (end < 0) return
    const text = head.subarray(0, end).toString("latin1")
    const rest = head.subarray(end + 4)
    head = undefined
    ok = text.slice(9, 12) === "200"
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)
    left = length === null ? undefined : Number(length[1])
    body(rest)
  })
  socket.on("error", () => finish(false))
  socket.on("close", () => finish(false))
  return {
    socket,
    send: () => {
      head = Buffer.alloc(0)
      left = undefined
      tail = ""
      begun = false
      waiting = true
      socket.write(bytes)
    }
  }
}

const nothing = (): void => undefined
const summary = (done: number, failed: number, seconds: number, millis: ReadonlyArray<number>): LoadResult => {
  const sorted = millis.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { done, failed, seconds, p50: at(0.5), p99: at(0.99), leftMicros: 0 }
}

/** Every connection sends its next request when its last answer is complete. */
const loop = (job: Extract<Job, { kind: "loop" }>): Promise<LoadResult> =>
  new Promise((resolve) => {
    const started = nowMicros()
    const ends = started + job.millis * 1000
    const times: Array<number> = []
    let done = 0
    let failed = 0
    let running = job.connections
    for (let n = 0; n < job.connections; n++) {
      let sent = 0
      const one = client(job.target, {
        onFirst: nothing,
        onBytes: nothing,
        onEnd: (good) => {
          const now = nowMicros()
          times.push((now - sent) / 1000)
          if (good) done++
          else failed++
          if (good && now < ends) {
            sent = now
            one.send()
            return
          }
          one.socket.destroy()
          if (--running === 0) resolve(summary(done, failed, (now - started) / 1e6, times))
        }
      })
      one.socket.once("connect", () => {
        sent = nowMicros()
        one.send()
      })
    }
  })

/** One connection, one request after another: time to the first byte of the body, or to its end. */
const latency = (job: Extract<Job, { kind: "latency" }>): Promise<LoadResult> =>
  new Promise((resolve) => {
    const started = nowMicros()
    const times: Array<number> = []
    let failed = 0
    let sent = 0
    const measured = (): void => {
      times.push((nowMicros() - sent) / 1000)
    }
    const one = client(job.target, {
      onFirst: () => {
        if (job.until === "first") measured()
      },
      onBytes: nothing,
      onEnd: (good) => {
        if (job.until === "end") measured()
        if (!good) failed++
        if (good && times.length < job.count) {
          sent = nowMicros()
          one.send()
          return
        }
        one.socket.destroy()
        resolve(summary(times.length - failed, failed, (nowMicros() - started) / 1e6, times))
      }
    })
    one.socket.once("connect", () => {
      sent = nowMicros()
      one.send()
    })
  })

const open: Array<Socket> = []

/** Opens streams over many connections and keeps them open. Resolves when each has received its first bytes. */
const openStreams = (
  target: Target,
  count: number,
  watch: (bytes: Buffer) => void,
  stopReading: boolean
): Promise<number> =>
  new Promise((resolve) => {
    let first = 0
    let failed = 0
    let begun = 0
    const settled = (): void => {
      if (first + failed === count) resolve(failed)
      else if (begun < count && begun - first - failed < 100) begin()
    }
    const begin = (): void => {
      begun++
      const one = client(target, {
        onFirst: () => {
          if (stopReading) one.socket.pause()
          first++
          settled()
        },
        onBytes: watch,
        onEnd: () => {
          failed++
          settled()
        }
      })
      open.push(one.socket)
      one.socket.once("connect", one.send)
    }
    for (let n = 0; n < Math.min(count, 100); n++) begin()
  })

const leave = (): LoadResult => {
  const leftMicros = nowMicros()
  for (const socket of open) socket.destroy()
  const done = open.length
  open.length = 0
  return { ...summary(done, 0, 0, []), leftMicros }
}

/** Streams whose events contain their write time. The delay of each event is measured on arrival. */
const paced = async (job: Extract<Job, { kind: "paced" }>): Promise<LoadResult> => {
  const delays: Array<number> = []
  let counting = false
  const failed = await openStreams(
    job.target,
    job.connections,
    (bytes) => {
      if (!counting) return
      const now = nowMicros()
      for (const match of bytes.toString("latin1").matchAll(/@(\d+)@/g)) delays.push((now - Number(match[1])) / 1000)
    },
    false
  )
  counting = true
  await new Promise((resolve) => setTimeout(resolve, job.millis))
  leave()
  return summary(delays.length, failed, job.millis / 1000, delays)
}

const run = async (job: Job): Promise<LoadResult> => {
  switch (job.kind) {
    case "loop":
      return loop(job)
    case "latency":
      return latency(job)
    case "paced":
      return paced(job)
    case "open":
      return summary(job.count, await openStreams(job.target, job.count, nothing, job.stopReading), 0, [])
    case "leave":
      return leave()
  }
}

process.on("message", (job: Job) => {
  void run(job).then((result) => process.send?.(result))
})
process.on("disconnect", () => process.exit(0))
