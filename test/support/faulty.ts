// Runs the whole gateway over sockets with a misbehaving upstream, and checks what every fault must keep.
// Must not depend on a particular fault.
import { PassThrough } from "node:stream"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { expect } from "vitest"
import type { LimitValues } from "../../src/domain/Limits.ts"
import type { ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { LogSink } from "../../src/telemetry/LogWriter.ts"
import { type EvilServer, rawServer } from "../upstream/evilServer.ts"
import { googleAccount, vertexAccount } from "./account.ts"
import { until } from "./eventually.ts"
import { parseMetrics } from "./prometheus.ts"
import { passUntil, passUntilEnded, resumeTime, stopTime } from "./stoppedTime.ts"
import { gatewayKey, settingsFor, startGateway } from "./TestGateway.ts"

const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
/** An answer of Gemini, or an event of its streams; without `finish` more is to come. */
export const gemini = (text: string, finish?: string): string =>
  JSON.stringify({
    candidates: [
      { content: { role: "model", parts: [{ text }] }, ...(finish === undefined ? {} : { finishReason: finish }) }
    ],
    usageMetadata
  })

export const fixed = (body: string | Buffer, status = "200 OK", headers = ""): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body)
  ])
export const chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
export const piece = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
export const event = (json: string): string => `data: ${json}\r\n\r\n`
export const lastPiece = "0\r\n\r\n"
/** A sound answer to anything. */
const fine = (request: string): string | Buffer =>
  request.includes(":streamGenerateContent")
    ? chunked + piece(event(gemini("fine", "STOP"))) + lastPiece
    : fixed(gemini("fine", "STOP"))

export interface Asking {
  readonly stream?: boolean
  readonly limits?: Partial<LimitValues>
  readonly path?: string
  readonly model?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** How often the same is asked, one after the other. */
  readonly times?: number
  /** The most sockets to the upstream that stay open for later calls; none by default. */
  readonly kept?: number
  /** In the place of the upstream's URL. */
  readonly baseUrl?: string
  /** The part of the answer at which a timer ends it: time stands still until others were served, and until that part. */
  readonly lateIn?: "head" | "body" | "nothing"
}

export interface Seen {
  readonly answers: ReadonlyArray<Response>
  readonly bodies: ReadonlyArray<string>
  readonly upstream: EvilServer
  /** Calls of the upstream that fails, as the log and the metrics have them. */
  readonly attempts: { readonly logged: number; readonly counted: number }
}

const asked = (
  url: string,
  model: string,
  { body, headers = {}, path = "/v1/chat/completions", stream = false }: Asking
): Promise<Response> =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }], ...body })
  })

const said = async (answer: Response): Promise<unknown> => {
  const body: unknown = await answer.json()
  return typeof body === "object" && body !== null && "choices" in body && Array.isArray(body.choices)
    ? body.choices[0]?.message.content
    : body
}

/** Accounts of an upstream that fails, for both providers, and of one that does not. */
const accounts = (baseUrl: string, fineUrl: string): ReadonlyArray<ProviderAccount> => [
  { ...googleAccount, slug: "evil", base_url: baseUrl },
  {
    ...vertexAccount,
    slug: "evil-vertex",
    base_url: baseUrl,
    credentials: { _tag: "AccessToken", token: Redacted.make("test-token") }
  },
  { ...googleAccount, slug: "fine", base_url: fineUrl }
]

/** What passes between two turns of the event loop: a part of any limit, so that the upstream is heard meanwhile. */
const stepMillis = 5

/**
 * Asks through a gateway of its own. Whatever happens, every request gives one line of the log and no 500, others are
 * served meanwhile and afterwards, nothing stays active, and the sockets to the upstream come back to `kept`, in the end to none.
 */
export const throughGateway = async (
  evil: Effect.Effect<EvilServer, never, Scope.Scope>,
  asking: Asking = {}
): Promise<Seen> => {
  const scope = await Effect.runPromise(Scope.make())
  const make = (server: Effect.Effect<EvilServer, never, Scope.Scope>) =>
    Effect.runPromise(Scope.provide(server, scope))
  const upstream = await make(evil)
  const other = await make(rawServer((socket, request) => void socket.write(fine(request))))
  const sink = new PassThrough()
  const lines: Array<string> = []
  sink.on("data", (bytes: Buffer) => lines.push(...bytes.toString("utf8").trimEnd().split("\n")))
  const settings = settingsFor("http://unused.invalid", {
    accounts: accounts(asking.baseUrl ?? upstream.url, other.url),
    limits: { retryBaseMillis: 0, retryCapMillis: 0, ...asking.limits }
  })
  const references = Layer.mergeAll(
    Layer.succeed(LogSink, sink),
    Layer.sync(Metric.MetricRegistry, () => new Map())
  )
  if (asking.lateIn !== undefined) stopTime()
  const gateway = await startGateway({ ...settings, log: { format: "json" } }, references)
  const controls: Array<Promise<unknown>> = []
  const control = () => controls.push(asked(gateway.url, "@fine/gemini-2.5-flash", {}).then(said))
  const answers: Array<Response> = []
  const bodies: Array<string> = []
  for (let n = 0; n < (asking.times ?? 1); n++) {
    const pending = asked(gateway.url, asking.model ?? "@evil/gemini-2.5-flash", asking)
    if (n < 5) control()
    if (asking.lateIn !== undefined) await Promise.all(controls)
    const answer = await (asking.lateIn === "head" ? passUntilEnded(stepMillis, pending) : pending)
    answers.push(answer)
    bodies.push(await (asking.lateIn === "body" ? passUntilEnded(stepMillis, answer.text()) : answer.text()))
  }
  control()
  expect(await Promise.all(controls)).toEqual(controls.map(() => "fine"))
  const isLeft = () => upstream.open() <= (asking.kept ?? 0)
  await (asking.lateIn === undefined ? until(isLeft) : passUntil(stepMillis, isLeft))
  await calm(gateway.url)
  const counted = await attemptsOf(gateway.url)
  resumeTime()
  await gateway.close()
  await until(() => upstream.open() + other.open() === 0)
  const rows = lines
    .map((line): { msg: string; status: number; provider?: string; attempts: number } => JSON.parse(line))
    .filter(({ msg }) => msg === "request")
  const statuses = rows.map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200).sort()).toEqual(
    answers
      .map(({ status }) => status)
      .filter((status) => status !== 200)
      .sort()
  )
  expect([statuses.length, statuses.includes(500)]).toEqual([answers.length + controls.length, false])
  await Effect.runPromise(Scope.close(scope, Exit.void))
  const logged = rows.reduce((sum, { attempts, provider }) => (provider === "fine" ? sum : sum + attempts), 0)
  return { answers, bodies, upstream, attempts: { logged, counted } }
}

const samplesOf = async (url: string) =>
  parseMetrics(await (await fetch(`${url}/metrics`)).text()).flatMap(({ samples }) => samples)

/** Counted calls of the upstream that fails, whatever came of them. */
const attemptsOf = async (url: string): Promise<number> =>
  (await samplesOf(url))
    .filter(({ labels, name }) => name === "gateway_upstream_attempts_total" && labels["provider"] !== "fine")
    .reduce((sum, { value }) => sum + value, 0)

/** Resolves when no request is under way. */
const calm = async (url: string): Promise<void> => {
  const active = async () =>
    (await samplesOf(url)).filter(({ name, value }) => name.startsWith("gateway_active") && value !== 0)
  await until(async () => (await active()).length === 0)
}

/** An error as the OpenAI routes write it. */
export const apiError = (code: string, message: string) => ({
  error: { message, type: "api_error", param: null, code }
})

/** A refused request: status, headers on retries, and body. */
export const refusal = ({ answers: [answer], bodies: [body] }: Seen): unknown => {
  const headers = answer?.headers
  const named = Object.fromEntries(
    ["x-should-retry", "retry-after", "retry-after-ms"].flatMap((name) =>
      headers?.get(name) === null ? [] : [[name, headers?.get(name)]]
    )
  )
  const parsed: unknown = JSON.parse(body ?? "")
  return [answer?.status, named, parsed]
}

interface Chunk {
  readonly choices?: ReadonlyArray<{
    readonly delta: { readonly content?: string }
    readonly finish_reason: string | null
  }>
  readonly error?: unknown
}

/** A stream of the OpenAI routes: its texts that are not empty, its finish, its errors, and whether it ended with [DONE]. */
export const streamed = (
  text: string
): { texts: ReadonlyArray<string>; finish: ReadonlyArray<string>; errors: ReadonlyArray<unknown>; done: boolean } => {
  const data = text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice(6))
  const chunks = data.filter((one) => one !== "[DONE]").map((one): Chunk => JSON.parse(one))
  const choices = chunks.flatMap((chunk) => chunk.choices ?? [])
  return {
    texts: choices.flatMap(({ delta }) => (delta.content === undefined || delta.content === "" ? [] : [delta.content])),
    finish: choices.flatMap(({ finish_reason: finish }) => (finish === null ? [] : [finish])),
    errors: chunks.flatMap(({ error }) => (error === undefined ? [] : [error])),
    done: data.at(-1) === "[DONE]"
  }
}

/** Of one stream that came with 200. */
export const streamOf = ({ answers: [answer], bodies: [body] }: Seen): ReturnType<typeof streamed> => {
  expect(answer?.status).toBe(200)
  return streamed(body ?? "")
}
