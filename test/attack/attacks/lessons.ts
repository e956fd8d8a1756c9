// Attacks on healing: words of a request that its refusal quotes, and lessons of other keys and credentials.
// Must not run an attack.
import { carriedKey } from "../canaries.ts"
import {
  type Attack,
  ask,
  callsOf,
  describeAnswer,
  generalFaults,
  hello,
  holds,
  json,
  type RequestOptions,
  type World
} from "./attack.ts"

/** What a dry run of another key would send. */
const shownTo = async (world: World, { body, headers, path }: RequestOptions): Promise<string> => {
  const answer = await ask(world, {
    key: "other",
    ...(path === undefined ? {} : { path }),
    headers: { ...headers, "x-gateway-dry-run": "true" },
    body
  })
  const shown = json(answer)
  return answer.status === 200 ? JSON.stringify([shown["headers"], shown["body"]]) : describeAnswer(answer)
}

/** The sentences by which upstreams refuse a parameter. */
const sentences = [
  "candidateCount must be 1",
  "Multiple candidates is not enabled for this model",
  "Penalty is not enabled for this model",
  "Logprobs is not enabled for this model",
  "Thinking level is not supported for this model",
  "Thinking level LOW is not supported for this model",
  "Requests ending with a model turn are not supported"
]

const model = "@google/gemini-2.5-flash-attack-echo-400"
const asking = { n: 2, presence_penalty: 0.5, reasoning_effort: "low" }

const quotes = async (world: World): Promise<ReadonlyArray<string>> => {
  const plain: RequestOptions = { body: { ...hello(model), ...asking } }
  const before = await shownTo(world, plain)
  const faults: Array<string> = []
  for (const sentence of sentences) {
    for (const text of [sentence, sentence.toUpperCase(), `A ${sentence} ${"and so on ".repeat(50)}`]) {
      const body = { ...hello(model), ...asking, messages: [{ role: "user", content: text }] }
      const { calls, result } = await callsOf(world, () => generalFaults(world, { body }))
      faults.push(
        ...result.faults,
        ...holds(calls.length === 1 && result.answer.status === 400, `${text.slice(0, 60)}: ${calls.length} calls`)
      )
    }
  }
  return [...faults, ...holds((await shownTo(world, plain)) === before, "a request of another key is sent changed")]
}

const betas = ["context-management-2025-06-27", "context-1m-2025-08-07"]

const betaQuotes = async (world: World): Promise<ReadonlyArray<string>> => {
  const plain: RequestOptions = {
    path: "/v1/messages",
    headers: { "anthropic-beta": betas.join(",") },
    body: { ...hello("@vertex-ai/anthropic.claude-opus-4-6-attack-edits"), max_tokens: 5 }
  }
  const type = `Unexpected value(s) ${betas.map((beta) => `\`${beta}\``).join(", ")} for the \`anthropic-beta\` header`
  const before = await shownTo(world, plain)
  const asked = { ...plain, body: { ...Object(plain.body), context_management: { edits: [{ type }] } } }
  const { calls, result } = await callsOf(world, () => generalFaults(world, asked))
  return [
    ...result.faults,
    ...holds(
      result.answer.status === 400 && calls.length === 1,
      `${calls.length} calls, ${describeAnswer(result.answer)}`
    ),
    ...holds((await shownTo(world, plain)) === before, "a message of another key loses its betas")
  ]
}

/** Its upstream refuses the level LOW, and answers everything else. */
const refusing = { ...hello("@google/gemini-3.5-flash-attack-levels"), reasoning_effort: "low" }

const lessons = async (world: World): Promise<ReadonlyArray<string>> => {
  const before = await shownTo(world, { body: refusing })
  const own = { "x-goog-api-key": carriedKey }
  const faults: Array<string> = []
  for (const [headers, expected] of [
    [own, 2],
    [own, 2],
    [{}, 2],
    [{}, 1],
    [own, 2]
  ] as const) {
    const { calls, result } = await callsOf(world, () => generalFaults(world, { headers, body: refusing }))
    const who = headers === own ? "with a credential of the request" : "with the stored credential"
    faults.push(
      ...result.faults,
      ...holds(result.answer.status === 200, `${who}: ${describeAnswer(result.answer)}`),
      ...holds(calls.length === expected, `${who}: ${calls.length} calls instead of ${expected}`)
    )
  }
  return [
    ...faults,
    ...holds((await shownTo(world, { body: refusing })) === before, "another key is taught by what this one learned")
  ]
}

export const taught: ReadonlyArray<Attack> = [
  { name: "lessons-quotes", sentence: "words of a request in its refusal teach nothing", attack: quotes },
  { name: "lessons-betas", sentence: "words of a message in its refusal take no beta off another", attack: betaQuotes },
  { name: "lessons-keys", sentence: "a lesson holds for its key and its stored credential", attack: lessons }
]
