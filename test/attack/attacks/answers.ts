// Attacks by a provider: answers of very many parts, calls, comments and chunks of one byte, on every route that reads them.
// Must not run an attack.
import {
  type Attack,
  ask,
  chat,
  describeAnswer,
  generalFaults,
  hello,
  holds,
  type RequestOptions,
  type World
} from "./attack.ts"

/** Longest allowed block of the event loop, and most CPU time of one answer, in milliseconds. */
const mostHeldMillis = 500
const mostCpuMillis = 1_500

const claude = "anthropic.claude-attack"
const gemini = "gemini-attack"
const contents = [{ role: "user", parts: [{ text: "Hello" }] }]

/** The requests that have such an answer read, each by another route. */
const routes = (word: string): ReadonlyArray<RequestOptions> => [
  ...[false, true].flatMap((stream): ReadonlyArray<RequestOptions> => [
    { body: { ...hello(`@google/${gemini}-${word}`), stream } },
    { path: "/v1/responses", body: { model: `@google/${gemini}-${word}`, input: "Hello", stream } },
    { body: { ...hello(`@vertex-ai/${claude}-${word}`), stream } },
    { path: "/v1/responses", body: { model: `@vertex-ai/${claude}-${word}`, input: "Hello", stream } },
    { path: "/v1/messages", body: { ...hello(`@vertex-ai/${claude}-${word}`), max_tokens: 5, stream } }
  ]),
  ...["generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"].map((verb) => ({
    path: `/v1beta/models/@google/${gemini}-${word}:${verb}`,
    body: { contents }
  }))
]

/** A request over its figures is measured once more: another program may block the machine once. */
const costsOf = async (world: World, asked: RequestOptions): Promise<ReadonlyArray<string>> => {
  const { answer, faults } = await generalFaults(world, asked)
  const first = await world.gateway.measured(() => ask(world, asked))
  const isOver = first.held >= mostHeldMillis || first.cpu >= mostCpuMillis
  const { cpu, held } = isOver ? await world.gateway.measured(() => ask(world, asked)) : first
  const what = `${asked.path ?? chat} ${JSON.stringify(asked.body).slice(0, 80)}`
  return [
    ...faults.map((fault) => `${what}: ${fault}`),
    ...holds(answer.status === 200 || answer.status === 502, `${what}: answered ${describeAnswer(answer)}`),
    ...holds(held < mostHeldMillis, `${what}: the event loop stood still for ${held.toFixed(0)} ms`),
    ...holds(cpu < mostCpuMillis, `${what}: took ${cpu.toFixed(0)} ms of CPU time`)
  ]
}

const onEveryRoute =
  (word: string) =>
  async (world: World): Promise<ReadonlyArray<string>> => {
    const faults: Array<string> = []
    for (const asked of routes(word)) faults.push(...(await costsOf(world, asked)))
    return faults
  }

/** Clients that leave with the first byte: what is left of their answers costs nothing. */
const left = async (world: World): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const asked of routes("bytes").filter(({ body }) => JSON.stringify(body).includes('"stream":true')))
    faults.push(...(await costsOf(world, { ...asked, leaveAfter: 1 })))
  return faults
}

export const answers: ReadonlyArray<Attack> = [
  { name: "answer-parts", sentence: "an answer of 16,000 parts is read in linear time", attack: onEveryRoute("parts") },
  { name: "answer-calls", sentence: "an answer of 9,000 calls is read in linear time", attack: onEveryRoute("calls") },
  {
    name: "answer-bytes",
    sentence: "an answer in chunks of one byte is read in linear time",
    attack: onEveryRoute("bytes")
  },
  {
    name: "answer-comments",
    sentence: "100,000 comments before an answer take no time",
    attack: onEveryRoute("comments")
  },
  { name: "answer-left", sentence: "an answer whose client has left takes no time", attack: left }
]
