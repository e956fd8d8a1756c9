// Declares an attack and its tools: requests in one line, checks of answers, faults as sentences.
// Must not know a particular attack.
import { type Answer, call } from "../client.ts"
import type { KeyName } from "../canaries.ts"
import type { Gateway } from "../gateway.ts"
import { judge, mostMillis, standingMillis } from "../judge.ts"
import type { Trap, Upstream } from "../upstream.ts"

export interface World {
  readonly gateway: Gateway
  readonly upstream: Upstream
  readonly trap: Trap
}

export interface Attack {
  readonly name: string
  /** The demand that the attack checks. */
  readonly sentence: string
  /** Returns the demands that did not hold. */
  readonly attack: (world: World) => Promise<ReadonlyArray<string>>
}

export interface RequestOptions {
  readonly key?: KeyName
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A value is sent as JSON, a text unchanged. */
  readonly body?: unknown
  readonly leaveAfter?: number
}

export const chat = "/v1/chat/completions"
export const flash = "@google/gemini-2.5-flash"
export const hello = (model: string = flash): { readonly model: string; readonly messages: ReadonlyArray<object> } => ({
  model,
  messages: [{ role: "user", content: "Hello" }]
})

export const ask = (
  { gateway }: World,
  { body, headers, key = "plain", leaveAfter, method, path = chat }: RequestOptions
): Promise<Answer> => {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
  return call(gateway.port, {
    method: method ?? (text === undefined ? "GET" : "POST"),
    path,
    headers: {
      ...gateway.key(key),
      ...(text === undefined
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
      ...headers
    },
    body: text,
    leaveAfter
  })
}

/** Faults of any answer, its time included. A late request is sent once more, alone. */
export const generalFaults = async (
  world: World,
  asked: RequestOptions,
  waits = 0
): Promise<{ readonly answer: Answer; readonly faults: ReadonlyArray<string> }> => {
  const once = async () => {
    const { cpu, held, result } = await world.gateway.measured(() => ask(world, asked))
    const judged = {
      method: asked.method ?? "POST",
      path: asked.path ?? chat,
      waits,
      left: asked.leaveAfter !== undefined,
      cpu: held > standingMillis ? cpu : undefined
    }
    return { answer: result, ...judge(judged, result) }
  }
  const first = await once()
  const { answer, faults, isSlow } = first.isSlow ? await once() : first
  return { answer, faults: isSlow ? [...faults, `took ${answer.millis.toFixed(0)} ms, at most ${mostMillis}`] : faults }
}

/** The error code of an answer in any of the error forms. */
export const codeOf = (answer: Answer): string => {
  try {
    const body = JSON.parse(answer.body)
    const reason: unknown = body.error?.details?.[0]?.reason
    if (typeof reason === "string") return reason.toLowerCase()
    return String(body.error?.code ?? body.type?.split(":").at(-1) ?? body.error?.type ?? "")
  } catch {
    return ""
  }
}

export const describeAnswer = (answer: Answer): string =>
  `${answer.status} ${codeOf(answer)} ${answer.body.slice(0, 160)}`

/** A fault unless the answer has this status and code. */
export const faultUnless = (status: number, code: string, answer: Answer, what = "answered"): ReadonlyArray<string> =>
  answer.status === status && codeOf(answer) === code
    ? []
    : [`${what} ${describeAnswer(answer)}, not ${status} ${code}`]

export const holds = (is: boolean, fault: string): ReadonlyArray<string> => (is ? [] : [fault])

/** Sends a request that must be refused with this status and code. Checks the general demands too. */
export const faultsUnlessRefused = async (
  world: World,
  status: number,
  code: string,
  asked: RequestOptions
): Promise<ReadonlyArray<string>> => {
  const { answer, faults } = await generalFaults(world, asked)
  return [...faults, ...faultUnless(status, code, answer)]
}

export const json = (answer: Answer): Readonly<Record<string, unknown>> => {
  try {
    return Object(JSON.parse(answer.body))
  } catch {
    return {}
  }
}

/** Runs the work and returns the calls that reached the providers meanwhile. */
export const callsOf = async <A>(
  { upstream }: World,
  work: () => Promise<A>
): Promise<{ readonly result: A; readonly calls: Upstream["calls"] }> => {
  const last = upstream.calls.at(-1)
  const result = await work()
  return {
    result,
    calls: last === undefined ? [...upstream.calls] : upstream.calls.slice(upstream.calls.lastIndexOf(last) + 1)
  }
}

/** The amount a key has spent in US dollars, according to the gateway. */
export const readSpending = async (world: World, name: KeyName): Promise<number> => {
  const { body } = await ask(world, { key: "admin", path: "/admin/v1/keys?limit=1000" })
  const data: ReadonlyArray<{ readonly name: string; readonly spent_usd?: number }> = JSON.parse(body).data
  return data.find((one) => one.name === name)?.spent_usd ?? 0
}
