// Checks before the timing that all contestants do the same work: equal texts, finish reasons and token counts.
// Must not measure time.
import type { Contestant } from "./contestants.ts"
import type { OperationName } from "./operations.ts"
import type { Target } from "./load.ts"

/** Parts of an answer that must be equal for all contestants. */
interface Answer {
  readonly content: string
  readonly finish: ReadonlyArray<string>
  readonly usage: ReadonlyArray<number>
}

interface Choice {
  readonly message?: { readonly content?: string | null }
  readonly delta?: { readonly content?: string | null }
  readonly finish_reason?: string | null
}
interface Body {
  readonly choices?: ReadonlyArray<Choice>
  readonly usage?: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly total_tokens: number
  } | null
}

const ask = async (target: Target): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${target.port}${target.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...target.headers },
    body: target.body
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${text.slice(0, 300)}`)
  return text
}

const whole = (text: string): Answer => {
  const body: Body = JSON.parse(text)
  const usage = body.usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  return {
    content: (body.choices ?? []).map(({ message }) => message?.content ?? "").join(""),
    finish: (body.choices ?? []).flatMap(({ finish_reason }) => finish_reason ?? []),
    usage: [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens]
  }
}

/** Usage of a stream and the closing `[DONE]` are not compared: Portkey sends neither with this provider. */
const streamed = (text: string): Answer => {
  const data = text
    .split(/\r?\n\r?\n/)
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice(6).trim())
  const choices = data
    .filter((one) => one !== "[DONE]")
    .flatMap((one): ReadonlyArray<Choice> => {
      const body: Body = JSON.parse(one)
      return body.choices ?? []
    })
  return {
    content: choices.map(({ delta }) => delta?.content ?? "").join(""),
    finish: choices.flatMap(({ finish_reason }) => finish_reason ?? []),
    usage: []
  }
}

interface ImageBody {
  readonly choices?: ReadonlyArray<{
    readonly message?: { readonly content_parts?: ReadonlyArray<{ readonly image?: { readonly b64_json?: string } }> }
  }>
}

interface EmbeddingList {
  readonly data?: ReadonlyArray<{ readonly index: number; readonly embedding: ReadonlyArray<number> }>
}

const otherKinds: Readonly<Record<OperationName, (text: string) => unknown>> = {
  vertex: whole,
  tools: whole,
  longPrompt: whole,
  imageIn: whole,
  imageOut: (text) => {
    const { choices = [] }: ImageBody = JSON.parse(text)
    return choices.map(({ message }) => message?.content_parts?.map(({ image }) => image?.b64_json?.length))
  },
  native: (text) => text,
  nativeStreams: (text) => text,
  responses: (text) => text.length > 0,
  responseStreams: (text) => text.length > 0,
  embeddings: (text) => {
    const list: EmbeddingList = JSON.parse(text)
    return (list.data ?? []).map(({ embedding, index }) => [index, embedding])
  },
  claude: whole,
  claudeStreams: streamed,
  // Messages pass through unchanged, so their bytes are compared.
  messages: (text) => text,
  messageStreams: (text) => text
}

const requireSame = (what: string, one: Contestant, answer: string, expected: string): void => {
  if (answer !== expected)
    throw new Error(`${one.name} answers otherwise, ${what}:\n${answer.slice(0, 600)}\n${expected.slice(0, 600)}`)
}

/** Throws when a contestant's answer to an operation other than Gemini chat differs from the first contestant's. */
export const requireSameOthers = async (contestants: ReadonlyArray<Contestant>): Promise<void> => {
  for (const [what, read] of Object.entries(otherKinds) as ReadonlyArray<
    readonly [OperationName, (text: string) => unknown]
  >) {
    let expected: string | undefined
    for (const one of contestants) {
      const target = one.other?.(what)
      if (target === undefined) continue
      const answer = JSON.stringify(read(await ask(target)))
      expected ??= answer
      requireSame(what, one, answer, expected)
    }
  }
}

/** Throws when a contestant's answer differs from the first contestant's. */
export const requireSameAnswers = async (contestants: ReadonlyArray<Contestant>): Promise<void> => {
  const kinds = [
    ["gemini-3.8-flash", false],
    ["gemini-3.8-flash", true],
    ["gemini-bench-burst", true]
  ] as const
  for (const [model, stream] of kinds) {
    let expected: string | undefined
    for (const one of contestants) {
      const text = await ask(one.target(model, stream)).catch((error: unknown) => {
        throw new Error(
          `${one.name}, ${model}${stream ? " streamed" : ""}: ${error instanceof Error ? error.message : "no answer"}`
        )
      })
      const answer = JSON.stringify(stream ? streamed(text) : whole(text))
      expected ??= answer
      requireSame(`${model}${stream ? " streamed" : ""}`, one, answer, expected)
    }
  }
}
