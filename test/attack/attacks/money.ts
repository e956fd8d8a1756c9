// Attacks on budgets: usage that is not counted, counted late or not priced.
// Must not run an attack.
import { budgets } from "../gateway.ts"
import { claudeText, longTokens, trickleText } from "../upstream.ts"
import {
  type Attack,
  ask,
  generalFaults,
  hello,
  holds,
  faultsUnlessRefused,
  describeAnswer,
  readSpending,
  faultUnless,
  type World
} from "./attack.ts"

/** Sends requests until the gateway refuses or the limit is reached. */
const until = async (world: World, times: number, asked: Parameters<typeof ask>[1]): Promise<number> => {
  for (let served = 0; served < times; served++) {
    const answer = await ask(world, asked)
    if (answer.status === 402) return served
  }
  return times
}

const pictures = async (world: World): Promise<ReadonlyArray<string>> => {
  const body = { model: "@google/gemini-2.5-flash-image", prompt: "A tide.", n: 1 }
  const served = await until(world, 40, { key: "pictures", path: "/v1/images/generations", body })
  const together = await Promise.all(
    Array.from({ length: 20 }, () => ask(world, { key: "pictures", path: "/v1/images/generations", body }))
  )
  const later = together.filter(({ status }) => status === 200).length
  // A picture of this model has 1290 tokens, at 30 US dollars per million.
  const cost = (served + later) * 1_290 * 30e-6
  return [
    ...holds(served > 0, "no picture was served"),
    ...holds(served < 40, "the budget never ended"),
    ...holds(cost <= budgets.pictures, `pictures of ${cost.toFixed(3)} US dollars for a budget of ${budgets.pictures}`),
    ...holds((await readSpending(world, "pictures")) <= budgets.pictures, "more is booked than the budget holds")
  ]
}

const hangup = async (world: World): Promise<ReadonlyArray<string>> => {
  const model = "@vertex-ai/anthropic.claude-sonnet-4-5-attack-uncounted"
  const body = { ...hello(model), max_tokens: 5_000, stream: true }
  const answer = await ask(world, { key: "hangup", body, leaveAfter: claudeText.length })
  if (answer.status !== 200) return faultUnless(403, "model_not_priced", answer)
  for (let tries = 0; tries < 50 && (await readSpending(world, "hangup")) === 0; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20))
  // 15 US dollars per million tokens. Eight characters per token is a lower bound for any text.
  const least = (claudeText.length / 8) * 15e-6
  const booked = await readSpending(world, "hangup")
  return holds(booked >= least, `${booked} US dollars are booked for a text of at least ${least.toFixed(4)}`)
}

const overrides = async (world: World): Promise<ReadonlyArray<string>> => {
  const headers = {
    "x-gateway-config": JSON.stringify({ provider: "google", override_params: { max_tokens: 60_000 } })
  }
  return faultsUnlessRefused(world, 402, "insufficient_quota", {
    key: "overrides",
    headers,
    body: { ...hello("gemini-2.5-pro"), max_tokens: 1 }
  })
}

const latest = async (world: World): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const model of [
    "@google/gemini-flash-latest",
    "@google/gemini-9-ultra",
    "@vertex-ai/endpoints.demo-llama",
    "@vertex-ai/meta.llama-9-maas"
  ]) {
    const { answer, faults: found } = await generalFaults(world, {
      key: "latest",
      body: { ...hello(model), max_tokens: 10 }
    })
    faults.push(...found)
    const booked = await readSpending(world, "latest")
    if (answer.status === 200 && booked === 0) faults.push(`${model} was served and nothing is booked`)
    if (answer.status !== 200) faults.push(...faultUnless(403, "model_not_priced", answer, model))
  }
  return faults
}

const texts = async (world: World): Promise<ReadonlyArray<string>> => {
  const content = `data:text/plain;base64,${"QUFB".repeat(250_000)}`
  const { answer, faults } = await generalFaults(world, {
    key: "texts",
    body: { model: "@google/gemini-2.5-pro", max_tokens: 1, messages: [{ role: "user", content }] }
  })
  return [
    ...faults,
    ...holds(answer.status === 402, `a text of a megabyte was taken for nothing: ${describeAnswer(answer)}`)
  ]
}

const media = async (world: World): Promise<ReadonlyArray<string>> => {
  const text = Buffer.from("tide ".repeat(200_000)).toString("base64")
  const files: ReadonlyArray<object> = [
    { format: "pdf", file_data: `data:text/plain;base64,${text}` },
    { mime_type: "image/png", file_data: text },
    { filename: "a.pdf", file_data: text },
    { file_data: text }
  ]
  const faults: Array<string> = []
  for (const file of files) {
    const messages = [{ role: "user", content: [{ type: "file", file }] }]
    const body = { model: "@google/gemini-2.5-pro", max_tokens: 1, messages }
    faults.push(...(await faultsUnlessRefused(world, 402, "insufficient_quota", { key: "texts", body })))
  }
  return faults
}

/** The dialects that send this model, with their paths and bodies. */
const gemini = (model: string, bound: number, stream = false): ReadonlyArray<Parameters<typeof ask>[1]> => {
  const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent"
  const contents = [{ role: "user", parts: [{ text: "Hello" }] }]
  return [
    { body: { ...hello(model), max_tokens: bound, stream } },
    { path: "/v1/responses", body: { model, input: "Hello", max_output_tokens: bound, stream } },
    { path: `/v1beta/models/${model}:${verb}`, body: { contents, generationConfig: { maxOutputTokens: `${bound}` } } }
  ]
}

const silent = async (world: World): Promise<ReadonlyArray<string>> => {
  const model = "@google/gemini-2.5-flash-attack-silent"
  const faults: Array<string> = []
  for (const asked of [...gemini(model, 1_000), ...gemini(model, 1_000, true)]) {
    const before = await readSpending(world, "silent")
    const answer = await ask(world, { ...asked, key: "silent" })
    // 2.5 US dollars per million tokens of output.
    const booked = (await readSpending(world, "silent")) - before
    faults.push(
      ...holds(answer.status === 200, `answered ${describeAnswer(answer)}`),
      ...holds(booked >= 1_000 * 2.5e-6, `${asked.path ?? "a chat"} without counts costs ${booked} US dollars`)
    )
  }
  return faults
}

const parallel = async (world: World): Promise<ReadonlyArray<string>> => {
  const [, , asked] = gemini("@google/gemini-2.5-flash-attack-long", longTokens)
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(world, { ...asked, key: "parallel" })))
  const served = answers.filter(({ status }) => status === 200).length
  const cost = served * longTokens * 2.5e-6
  return [
    ...holds(
      served > 0,
      `none was served: ${describeAnswer(answers[0] ?? { status: 0, headers: {}, body: "", millis: 0 })}`
    ),
    ...holds(cost <= budgets.parallel, `answers of ${cost.toFixed(3)} US dollars for a budget of ${budgets.parallel}`),
    ...holds((await readSpending(world, "parallel")) <= budgets.parallel, "more is booked than the budget holds")
  ]
}

const cut = async (world: World): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const asked of gemini("@google/gemini-2.5-flash-attack-trickle", 20_000, true)) {
    const before = await readSpending(world, "cut")
    const answer = await ask(world, { ...asked, key: "cut", leaveAfter: trickleText.length })
    let booked = 0
    for (let tries = 0; tries < 50 && booked === 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      booked = (await readSpending(world, "cut")) - before
    }
    // 2.5 US dollars per million tokens, of four characters.
    const passed = (trickleText.length / 4) * 2.5e-6
    const [least, most] = [passed * 0.8, passed * 1.5]
    faults.push(
      ...holds(answer.status === 200, `answered ${describeAnswer(answer)}`),
      ...holds(
        booked >= least && booked <= most,
        `${asked.path ?? "a chat"} costs ${booked} US dollars, not about ${passed}`
      )
    )
  }
  return faults
}

export const money: ReadonlyArray<Attack> = [
  { name: "budget-pictures", sentence: "pictures end with the budget", attack: pictures },
  {
    name: "budget-hangup",
    sentence: "a client that leaves before Claude's last counts pays for what it got",
    attack: hangup
  },
  { name: "budget-overrides", sentence: "override_params are counted before the call", attack: overrides },
  { name: "budget-unpriced", sentence: "models without a price are not served on a budget", attack: latest },
  { name: "budget-texts", sentence: "a text that begins as a data URI counts as a text", attack: texts },
  { name: "budget-media", sentence: "a text that is declared to be media counts as a text", attack: media },
  { name: "budget-silent", sentence: "an answer without counts costs its reserve", attack: silent },
  { name: "budget-parallel", sentence: "100 parallel requests cost no more than the budget", attack: parallel },
  { name: "budget-cut", sentence: "a stream that its client leaves costs what has passed", attack: cut }
]
