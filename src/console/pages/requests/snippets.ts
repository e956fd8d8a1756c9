// A request as a client calls it: its route, and commands to copy for curl and the SDKs of OpenAI, Anthropic and Google.
// It must not contain a key: its place is a variable.
import type { RequestRow } from "../../AdminClient.ts"
import { fieldsOf, isFields, listOf, textOf } from "../../readJson.ts"

/** The route, of which rows have the template, such as `/v1beta/models/:model:generateContent`. */
export const calledRoute = ({
  model,
  provider,
  route,
  stream
}: Pick<RequestRow, "model" | "provider" | "route" | "stream">): string => {
  if (!route.includes(":model")) return route
  const named = route.replace(":model", `@${provider}/${model}`)
  return stream
    ? named.replace(":rawPredict", ":streamRawPredict").replace(":generateContent", ":streamGenerateContent?alt=sse")
    : named
}

// A request as commands to copy: curl, and the SDKs of OpenAI, Anthropic and Google.

export interface Asked {
  readonly route: string
  /** The slug and the model, as `@google/gemini-3.8-flash`. */
  readonly model: string
  /** The body as the client sent it; undefined where it is not kept. */
  readonly body: unknown
  readonly isStream: boolean
}

interface Turn {
  readonly role: "user" | "assistant"
  readonly text: string
}

/** The texts of a request, which every dialect can express. */
interface PlainChat {
  readonly system: string
  readonly turns: ReadonlyArray<Turn>
  /** Whether something else than texts was left out. */
  readonly isPart: boolean
}

const textsOf = (content: unknown): ReadonlyArray<string> =>
  typeof content === "string"
    ? [content]
    : listOf(content).flatMap((part) => {
        const { text } = fieldsOf(part)
        return typeof text === "string" ? [text] : []
      })

const isOnlyText = (content: unknown): boolean =>
  typeof content === "string" || listOf(content).length === textsOf(content).length

/** Messages of OpenAI's and Anthropic's dialects, input of responses, and contents of Google's. */
const messagesOf = (body: unknown): ReadonlyArray<unknown> => {
  const { contents, input, messages } = fieldsOf(body)
  if (typeof input === "string") return [{ role: "user", content: input }]
  return [...listOf(messages), ...listOf(input), ...listOf(contents)]
}

const systemRoles = new Set(["system", "developer"])

const plainChat = (body: unknown): PlainChat => {
  const { instructions, system, systemInstruction } = fieldsOf(body)
  const messages = messagesOf(body).filter(isFields)
  const contentOf = ({ content, parts }: Readonly<Record<string, unknown>>): unknown => content ?? parts
  const instructing = messages.filter(({ role }) => systemRoles.has(textOf(role)))
  const turns = messages.filter(({ role }) => role !== "tool" && !systemRoles.has(textOf(role)))
  const texts = [system, instructions, fieldsOf(systemInstruction)["parts"], ...instructing.map(contentOf)]
  return {
    system: texts.flatMap(textsOf).join("\n"),
    turns:
      turns.length === 0
        ? [{ role: "user", text: "Hello" }]
        : turns.map((message) => ({
            role: message["role"] === "assistant" || message["role"] === "model" ? "assistant" : "user",
            text: textsOf(contentOf(message)).join("\n")
          })),
    isPart: messages.some((message) => !isOnlyText(contentOf(message)) || message["role"] === "tool")
  }
}

/** A text inside single quotes of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const json = (value: unknown): string => JSON.stringify(value, null, 2)

/** The body of a route, where the own one is not kept: a question instead of the content. */
const usualBody = ({ isStream, model, route }: Asked): object =>
  route.includes(":generate") || route.includes(":streamGenerate")
    ? { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }
    : {
        model,
        ...(isStream ? { stream: true } : {}),
        ...(route === "/v1/responses" ? { input: "Hello" } : { messages: [{ role: "user", content: "Hello" }] })
      }

/** A request as curl, with the key as a variable. */
export const curlCommand = (address: string, body: unknown, isStream: boolean): string =>
  [
    `curl ${isStream ? "-N" : "-s"} ${quoted(address)} -H 'content-type: application/json'`,
    `-H "x-gateway-api-key: $GATEWAY_KEY"`,
    `-d ${quoted(JSON.stringify(body))}`
  ].join(" \\\n  ")

export const curlOf = (asked: Asked, origin: string): string => {
  const body = asked.body ?? usualBody(asked)
  return curlCommand(origin + asked.route, body, asked.isStream || fieldsOf(body)["stream"] === true)
}

const note = ({ isPart }: PlainChat): string => (isPart ? "// Texts only: other parts are left out.\n" : "")

/** The body of a dialect: the client's own, or its texts. */
const openAiBody = ({ body, model, route }: Asked): object => {
  if (route === "/v1/chat/completions" && isFields(body)) return { ...body, model }
  const { system, turns } = plainChat(body)
  const first = system === "" ? [] : [{ role: "system", content: system }]
  return { model, messages: [...first, ...turns.map(({ role, text }) => ({ role, content: text }))] }
}

const noteOf = ({ body, route }: Asked, shownRoute: string): string =>
  route === shownRoute ? "" : note(plainChat(body))

export const openAiOf = (asked: Asked, origin: string): string =>
  `${noteOf(asked, "/v1/chat/completions")}import OpenAI from "openai"

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: process.env.GATEWAY_KEY })
const answer = await client.chat.completions.create(${json(openAiBody(asked))})`

export const anthropicOf = (asked: Asked, origin: string): string => {
  const { body, model, route } = asked
  const { system, turns } = plainChat(body)
  const plain = {
    model,
    max_tokens: 1000,
    ...(system === "" ? {} : { system }),
    messages: turns.map(({ role, text }) => ({ role, content: text }))
  }
  const sent = route === "/v1/messages" && isFields(body) ? { ...body, model } : plain
  return `${noteOf(asked, "/v1/messages")}import Anthropic from "@anthropic-ai/sdk"

const client = new Anthropic({ baseURL: "${origin}", apiKey: process.env.GATEWAY_KEY })
const answer = await client.messages.create(${json(sent)})`
}

export const genaiOf = (asked: Asked, origin: string): string => {
  const chat = plainChat(asked.body)
  const contents = chat.turns.map(({ role, text }) => ({
    role: role === "assistant" ? "model" : "user",
    parts: [{ text }]
  }))
  const config = chat.system === "" ? {} : { config: { systemInstruction: chat.system } }
  return `${note(chat)}import { GoogleGenAI } from "@google/genai"

const client = new GoogleGenAI({ apiKey: process.env.GATEWAY_KEY, httpOptions: { baseUrl: "${origin}" } })
const answer = await client.models.generateContent(${json({ model: asked.model, contents, ...config })})`
}
