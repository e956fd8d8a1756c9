// Measures rolling restarts of two gateways under nginx (F30) and a stop during streams (F29): `node test/bench/rolling.ts`.
// Must not call other hosts than loopback; needs nginx on the path. About six minutes; exit code 1 on a missed goal.
// Flag: --quick (5 restarts instead of 20, streams of 5 to 15 seconds instead of 60).
import type { ChildProcess } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { Agent, createServer, request as send } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { freePort, launch, listen } from "./contestants.ts"
import { body } from "./operations.ts"
import { reportFigure, isMissed } from "./figures.ts"

const quick = process.argv.includes("--quick")
const restarts = quick ? 5 : 20
const perSecond = 100
/** A stopping gateway accepts connections for five more seconds, so each restart meets about a thousand requests. */
const settledMillis = 4_000
const streams = 200
const streamSeconds = { least: 5, most: quick ? 15 : 60 }
const key = "mgk_rolling"
const folder = mkdtempSync(join(tmpdir(), "model-gateway-rolling-"))
const main = join(import.meta.dirname, "../../src/main.ts")

const part = (text: string, finish?: string) => ({
  candidates: [
    {
      content: { role: "model", parts: [{ text }] },
      index: 0,
      ...(finish === undefined ? {} : { finishReason: finish })
    }
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
})
/** A whole answer after 20 ms, or a stream of five events a second for the time in its model id. */
const upstream = createServer((incoming, response) => {
  incoming.resume()
  const length = /for-(\d+)/.exec(incoming.url ?? "")
  if (length === null) {
    setTimeout(
      () => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(part("ok", "STOP"))),
      20
    )
    return
  }
  let left = Number(length[1]) / 200
  response.writeHead(200, { "content-type": "text/event-stream" })
  const timer = setInterval(() => {
    response.write(`data: ${JSON.stringify(part("word ", --left <= 0 ? "STOP" : undefined))}\r\n\r\n`)
    if (left <= 0) {
      clearInterval(timer)
      response.end()
    }
  }, 200)
  response.on("close", () => clearInterval(timer))
})
const upstreamPort = await listen(upstream)

const config = join(folder, "gateway.json")
writeFileSync(
  config,
  JSON.stringify({
    providers: [
      { slug: "google", provider: "google", api_key: "bench-key", base_url: `http://127.0.0.1:${upstreamPort}` }
    ],
    keys: [{ name: "rolling", key }],
    log: { format: "off" }
  })
)

process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly at: number
}
interface Instance {
  readonly port: number
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

const statusOf = (port: number): Promise<number> =>
  fetch(`http://127.0.0.1:${port}/health/ready`, { headers: { connection: "close" } }).then(
    ({ status }) => status,
    () => 0
  )

const startGateway = async (port: number): Promise<Instance> => {
  const child = launch(process.execPath, [main, "serve", "--config", config, "--port", String(port)], {
    GATEWAY_DATA_DIR: join(folder, String(port))
  })
  child.stderr.resume()
  const ended = new Promise<Ended>((resolve) => child.once("exit", (code) => resolve({ code, at: performance.now() })))
  while ((await statusOf(port)) !== 200) await pause(20)
  return { port, child, ended }
}

const gateways = [await startGateway(await freePort()), await startGateway(await freePort())]
const front = await freePort()
writeFileSync(
  join(folder, "nginx.conf"),
  `
daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream gateways { ${gateways.map(({ port }) => `server 127.0.0.1:${port} max_fails=1 fail_timeout=1s;`).join(" ")} keepalive 64; }
  server {
    listen 127.0.0.1:${front};
    location / { proxy_pass http://gateways; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 120s; }
  }
}
`
)
launch("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], {})
  .once("error", (error) => {
    throw error
  })
  .stderr.resume()
while ((await statusOf(front)) !== 200) await pause(20)

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })
interface Answer {
  readonly status: number
  readonly text: string
}
const ask = (model: string, stream: boolean): Promise<Answer> =>
  new Promise((resolve) => {
    const failed = (error: Error): void => resolve({ status: 0, text: error.message })
    const headers = { "content-type": "application/json", "x-gateway-api-key": key }
    send(
      { port: front, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", agent, headers },
      (response) => {
        const parts: Array<Buffer> = []
        response.on("data", (bytes: Buffer) => parts.push(bytes))
        response.on("error", failed)
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") })
        )
      }
    )
      .on("error", failed)
      .end(body(`@google/${model}`, stream))
  })

/** Sends requests at a steady rate until it is stopped, independent of earlier answers. */
const steady = () => {
  const pending: Array<Promise<Answer>> = []
  const timer = setInterval(() => void pending.push(ask("gemini-3.8-flash", false)), 1_000 / perSecond)
  return async (): Promise<ReadonlyArray<Answer>> => {
    clearInterval(timer)
    return Promise.all(pending)
  }
}

const noFailures = (name: string, answers: ReadonlyArray<Answer>): void => {
  const failed = answers.filter(({ status }) => status !== 200)
  for (const { status, text } of failed.slice(0, 3)) console.log(`      ${status} ${text.slice(0, 200)}`)
  reportFigure(`${name}: failures of ${answers.length} requests`, failed.length, "0", failed.length === 0)
}

// F29: one of two gateways stops while streams run through both.
const long = Array.from({ length: streams }, (_, n) => {
  const seconds = streamSeconds.least + (n / streams) * (streamSeconds.most - streamSeconds.least)
  return ask(`gemini-for-${Math.round(seconds * 1_000)}`, true).then((answer) => ({ ...answer, at: performance.now() }))
})
await pause(1_000)
const besides = steady()
const [leaving, staying] = gateways as [Instance, Instance]
const stoppedAtMillis = performance.now()
leaving.child.kill("SIGTERM")
while ((await statusOf(leaving.port)) !== 503) await pause(2)
reportFigure(
  "F29 ready says 503 after, ms",
  performance.now() - stoppedAtMillis,
  "< 100",
  performance.now() - stoppedAtMillis < 100
)
while ((await statusOf(leaving.port)) !== 0) await pause(20)
reportFigure(
  "F29 connections are taken until, ms",
  performance.now() - stoppedAtMillis,
  ">= 5000",
  performance.now() - stoppedAtMillis >= 5_000
)
const left = await leaving.ended
const ends = await Promise.all(long)
const whole = ends.filter(({ text }) => text.endsWith("data: [DONE]\n\n")).length
reportFigure(`F29 streams of ${streams} that came to their end`, whole, String(streams), whole === streams)
reportFigure("F29 exit code", left.code ?? -1, "0", left.code === 0)
const last = Math.max(...ends.map(({ at }) => at))
reportFigure("F29 exit behind the last stream, ms", left.at - last, "<= 1000", left.at - last <= 1_000)
noFailures("F29 besides", await besides())

// F30: both gateways are replaced in turn, several times.
let [older, newer] = [staying, await startGateway(leaving.port)]
const whileRolling = steady()
for (let n = 0; n < restarts; n++) {
  older.child.kill("SIGTERM")
  await older.ended
  ;[older, newer] = [newer, await startGateway(older.port)]
  await pause(settledMillis)
}
noFailures(`F30 ${restarts} restarts`, await whileRolling())

if (isMissed())
  console.log(
    readFileSync(join(folder, "error.log"), "utf8")
      .split("\n")
      .filter((line) => !line.includes("Connection refused"))
      .join("\n")
      .slice(-2_000)
  )
agent.destroy()
upstream.closeAllConnections()
process.exit(isMissed() ? 1 : 0)
