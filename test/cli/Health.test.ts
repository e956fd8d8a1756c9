// `health`: the state that it prints and its exit code, for each state of readiness.
// Must not depend on when a dependency of a gateway fails.
import { once } from "node:events"
import { createServer } from "node:http"
import * as Redacted from "effect/Redacted"
import { expect, it } from "vitest"
import { commandLine } from "../support/commandLine.ts"
import { settingsFor, startGateway } from "../support/TestGateway.ts"

/** Runs `health` against a server that gives this answer. */
const healthOf = async (status: number, body: string) => {
  const server = createServer((_request, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  const ended = await commandLine(["health", "--url", origin])
  server.close()
  return { ...ended, err: ended.err.replace(origin, "ORIGIN") }
}

const degraded = {
  status: "degraded",
  checks: { config: "ok", store: "disk_full", redis: "ok", workers: "down" },
  messages: { store: "The disk is full.\u001b[2J" },
  version: "0.1.0"
}

it("health: a gateway without its Redis is degraded, with the text of readiness, and exits with 0", async () => {
  const gateway = await startGateway({
    ...settingsFor("http://unused.invalid"),
    redis: Redacted.make("redis://127.0.0.1:1")
  })
  const ended = await commandLine(["health", "--url", gateway.url])
  await gateway.close()
  expect(ended).toEqual({
    code: 0,
    out: "degraded\nredis  down  Redis does not answer: each gateway uses its own memory for limits, circuits and caches. Look at the server of redis.url; the gateway returns to it by itself.\n",
    err: ""
  })
})

it.each([
  ["ok is ready", 200, JSON.stringify({ status: "ok", checks: { config: "ok" } }), 0, "ready\n", ""],
  [
    "degraded has a line for each check that is not ok, with control characters escaped",
    200,
    JSON.stringify(degraded),
    0,
    "degraded\nstore  disk_full  The disk is full.\\u001b[2J\nworkers  down\n",
    ""
  ],
  [
    "a drain is not ready",
    503,
    JSON.stringify({ status: "shutting_down", checks: { config: "ok" }, messages: { service: "It shuts down." } }),
    1,
    "",
    "not ready: ORIGIN answered 503 (shutting_down)\nservice  It shuts down.\n"
  ],
  ["200 of another shape is ready", 200, "fine", 0, "ready\n", ""],
  ["503 of another shape is not ready", 503, "[]", 1, "", "not ready: ORIGIN answered 503\n"]
])("health: %s", async (_title, status, body, code, out, err) => {
  expect(await healthOf(status, body)).toEqual({ code, out, err })
})

it("health: below a base path, and at an address that ends with a slash, it asks for readiness there (K23)", async () => {
  const asked: Array<string | undefined> = []
  const server = createServer(({ url }, response) => {
    asked.push(url)
    response.writeHead(200).end("fine")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" ? String(address?.port) : ""
  const files = { "gateway.yaml": `server: { port: ${port}, base_path: /llm }` }
  await commandLine(["health"], {}, { files })
  await commandLine(["health", "--url", `http://127.0.0.1:${port}/llm/`])
  await commandLine(["health", "--url", `http://127.0.0.1:${port}/llm/livez`])
  server.close()
  expect(asked).toEqual(["/llm/health/ready", "/llm/health/ready", "/llm/livez"])
})

it("health: asks the address of the configuration and of its variables, and a faulty file counts as none", async () => {
  const server = createServer((_request, response) => response.writeHead(200).end("fine")).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" ? String(address?.port) : ""
  const files = { "gateway.yaml": `server: { port: ${port} }`, "other.yaml": "server: { prot: 1 }" }
  const ready = { code: 0, out: "ready\n", err: "" }
  expect(await commandLine(["health", "--config", "gateway.yaml"], {}, { files })).toEqual(ready)
  expect(await commandLine(["health"], {}, { files })).toEqual(ready)
  expect(await commandLine(["health"], { PORT: port }, { files: {} })).toEqual(ready)
  expect(await commandLine(["health"], { PORT: "1" }, { files: {} })).toEqual({
    code: 1,
    out: "",
    err: "no answer from http://127.0.0.1:1\n"
  })
  expect(await commandLine(["health", "--config", "other.yaml"], {}, { files })).toEqual({
    code: 2,
    out: "",
    err: "other.yaml:1:11  server.prot  unknown key; did you mean port?\n"
  })
  server.close()
})
