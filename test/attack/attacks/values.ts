// Attacks by many small values: in arguments, schemas and kept conversations, and references to many items.
// Must not run an attack.
import { setTimeout as pause } from "node:timers/promises"
import {
  type Attack,
  ask,
  chat,
  codeOf,
  describeAnswer,
  faultsUnlessRefused,
  flash,
  hello,
  holds,
  json,
  type RequestOptions,
  type World
} from "./attack.ts"

/** Longest wait for an answer of health, in milliseconds of the gateway's own CPU time or of the clock, the lesser. */
const mostSilent = 1_000
const responses = "/v1/responses"

/** Runs the work and asks for health all the while. */
const watchHealth = async (world: World, work: () => Promise<unknown>): Promise<ReadonlyArray<string>> => {
  let [longest, done] = [0, false]
  const watch = async (): Promise<void> => {
    while (!done) {
      const { cpu, result } = await world.gateway.measured(() => ask(world, { path: "/health/live" }))
      if (result.status !== 200) longest = Infinity
      longest = Math.max(longest, Math.min(cpu, result.millis))
      await pause(10)
    }
  }
  const watching = watch()
  await work()
  done = true
  await watching
  return holds(longest < mostSilent, `health was silent for ${longest.toFixed(0)} ms, at most ${mostSilent}`)
}

/** Many of one request together; none may be served, or fail in another way. */
const refusedTogether = (count: number, asked: RequestOptions) => async (world: World) => {
  const answers: Array<string> = []
  const faults = await watchHealth(world, () =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const answer = await ask(world, asked)
        const code = codeOf(answer)
        if (code !== "json_too_large" && code !== "overloaded" && code !== "concurrency_limit_exceeded")
          answers.push(describeAnswer(answer))
      })
    )
  )
  return [...faults, ...holds(answers.length === 0, `answered ${answers[0]}`)]
}

const small = (values: number): string => JSON.stringify({ a: Array.from({ length: values }, () => ({})) })

/** 27 MB of calls whose arguments are empty objects. */
const calls = (): RequestOptions => ({
  body: {
    model: flash,
    messages: [
      { role: "user", content: "Hello" },
      ...Array.from({ length: 90 }, (_, at) => [
        {
          role: "assistant",
          tool_calls: [{ id: `c${at}`, type: "function", function: { name: "f", arguments: small(100_000) } }]
        },
        { role: "tool", tool_call_id: `c${at}`, content: "ok" }
      ]).flat()
    ]
  }
})

/** 5 MB of properties. */
const schemas = (): RequestOptions => ({
  body: {
    ...hello(),
    tools: Array.from({ length: 100 }, (_, at) => ({
      type: "function",
      function: {
        name: `f${at}`,
        parameters: {
          type: "object",
          properties: Object.fromEntries(Array.from({ length: 1_700 }, (_, name) => [`p${name}`, { type: "string" }]))
        }
      }
    }))
  }
})

const idOf = (answer: Parameters<typeof json>[0]): string => String(json(answer)["id"] ?? "")

/** A chain of responses of 900 KB with many parts; short requests go on with it. */
const kept = async (world: World): Promise<ReadonlyArray<string>> => {
  let previous: string | undefined
  for (let turn = 0; turn < 12; turn++) {
    const made = await ask(world, {
      path: responses,
      body: {
        model: flash,
        input: [{ role: "user", content: Array.from({ length: 9_000 }, () => ({ type: "input_text", text: "x" })) }],
        ...(previous === undefined ? {} : { previous_response_id: previous })
      }
    })
    if (made.status === 400 && codeOf(made) === "context_length_exceeded") break
    if (made.status !== 200) return [`a response of many parts answered ${describeAnswer(made)}`]
    previous = idOf(made)
  }
  const other: Array<string> = []
  const faults = await watchHealth(world, () =>
    Promise.all(
      Array.from({ length: 30 }, async () => {
        const answer = await ask(world, {
          path: responses,
          body: { model: flash, input: "Hi", previous_response_id: previous }
        })
        if (answer.status !== 200 && answer.status !== 429 && answer.status !== 503) other.push(describeAnswer(answer))
      })
    )
  )
  return [...faults, ...holds(other.length === 0, `answered ${other[0]}`)]
}

/** A response of 9,000 items, and requests that mean each of them by its id. */
const references = async (world: World): Promise<ReadonlyArray<string>> => {
  const input = Array.from({ length: 9_000 }, () => ({ role: "user", content: "Hi" }))
  const made = await ask(world, { path: responses, body: { model: flash, input } })
  const items: Array<object> = []
  for (let after = ""; items.length < input.length;) {
    const page = await ask(world, {
      path: `${responses}/${idOf(made)}/input_items?limit=100&order=asc${after === "" ? "" : `&after=${after}`}`
    })
    const ids = Object(json(page)["data"])
    if (!Array.isArray(ids) || ids.length === 0) return [`a page of items answered ${describeAnswer(page)}`]
    for (const { id } of ids) items.push({ type: "item_reference", id })
    after = String(json(page)["last_id"])
  }
  const asked = { path: responses, body: { model: flash, input: items } }
  const other: Array<string> = []
  const faults = await watchHealth(world, () =>
    Promise.all(
      Array.from({ length: 8 }, async () => {
        const answer = await ask(world, asked)
        if (answer.status !== 200 && answer.status !== 429 && answer.status !== 503) other.push(describeAnswer(answer))
      })
    )
  )
  return [...faults, ...holds(other.length === 0, `answered ${other[0]}`)]
}

/** Type words of two lists, which were compared each with each. */
const typeWords = (world: World): Promise<ReadonlyArray<string>> => {
  const words = (name: string) => ({ type: Array.from({ length: 40_000 }, (_, at) => `${name}${at}`) })
  const parameters = { type: "object", properties: { a: { allOf: [words("a"), words("b")] } } }
  return faultsUnlessRefused(world, 400, "invalid_schema", {
    path: chat,
    body: { ...hello(), tools: [{ type: "function", function: { name: "f", parameters } }] }
  })
}

export const values: ReadonlyArray<Attack> = [
  {
    name: "values-chats",
    sentence: "12 chats of 27 MB of small values in arguments are refused, and health answers",
    attack: refusedTogether(12, calls())
  },
  {
    name: "values-schemas",
    sentence: "60 requests of 5 MB of schemas are refused, and health answers",
    attack: refusedTogether(60, schemas())
  },
  { name: "types-80k", sentence: "two lists of 40,000 types of a schema take no time", attack: typeWords },
  {
    name: "responses-kept",
    sentence: "30 short requests that go on with 100,000 kept parts leave health served",
    attack: kept
  },
  { name: "references-9000", sentence: "9,000 references to items are each found by one look", attack: references }
]
