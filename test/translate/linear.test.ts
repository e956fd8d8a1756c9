// Tests that reading and writing take linear time: every list of every dialect, both ways, grown and its steps counted.
// Must not measure time.
import { readdirSync, readFileSync } from "node:fs"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/text/json.ts"
import { noRedaction } from "../../src/domain/text/redaction.ts"
import { messageStream, readMessagesRequest } from "../../src/translate/messages-to-claude.ts"
import { crossCall } from "../../src/translate/native/crossVerbs.ts"
import { readNativeReply } from "../../src/translate/native/nativeReply.ts"
import { nativeStream } from "../../src/translate/native/nativeStream.ts"
import { responseFromChat, streamFromChat } from "../../src/translate/responses-to-chat/response.ts"
import {
  type Fold,
  isStreamFailed,
  runFold,
  type TranslateContext,
  type Unary
} from "../../src/translate/Translator.ts"
import { translators } from "../../src/translate/standalone.ts"
import { ChatRequest } from "../../src/wire/openai/Chat.ts"
import type { ChatCompletion } from "../../src/wire/openai/ChatReply.ts"
import { chatContext, chatRequest } from "../support/chat.ts"
import { at, listsIn, repeat, replacedAt, shapeOf } from "../support/grownJson.ts"
import { readCase } from "../support/matrix.ts"
import { isRelease } from "../support/release.ts"
import { answerFacts, translated } from "../support/responses.ts"
import { type Recording, recordings } from "../support/shared.ts"
import { exponentOf } from "../support/steps.ts"
import { byteFold, isChunk, jsonEvents } from "../support/streams.ts"

/** Work on a document, which may as well refuse it. */
interface Codec {
  readonly name: string
  readonly read: (json: Json) => unknown
}

interface Grown {
  readonly title: string
  readonly work: (size: number) => () => unknown
}

const size = 200
const times = 4
/** Linear work has 1, with trees up to 1.2; work of which a copy of the list for each item is a part has more. */
const mostExponent = 1.3

const encoder = new TextEncoder()
const bytesOf = (json: Json): Uint8Array => encoder.encode(JSON.stringify(json))
const folder = (name: string): ReadonlyArray<string> => {
  const url = new URL(`../fixtures/${name}/`, import.meta.url)
  return readdirSync(url)
    .sort()
    .map((file) => readFileSync(new URL(file, url), "utf8"))
}
const answered = (own: string, ...names: ReadonlyArray<string>): ReadonlyArray<Recording> =>
  [...folder(own).map((text): Recording => JSON.parse(text)), ...names.flatMap(recordings)].filter(
    ({ response }) => response.status === 200
  )
/** All of them take eight minutes; four times as many before a release as otherwise, evenly spread. */
const some = (all: ReadonlyArray<Grown>): ReadonlyArray<Grown> => {
  const step = Math.ceil(all.length / (isRelease ? 400 : 100))
  const moved = Number(process.env["TEST_SEED"] ?? 0) % step || 0
  return all.filter((_, index) => index % step === moved)
}
const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null))
const bodies = (list: ReadonlyArray<Recording>): ReadonlyArray<Json> =>
  list.flatMap(({ response: { body } }) => (body === undefined ? [] : [jsonOf(body)]))
const streams = (list: ReadonlyArray<Recording>): ReadonlyArray<ReadonlyArray<Json>> =>
  list.flatMap(({ response: { bodyText } }) =>
    bodyText === undefined
      ? []
      : [
          runFold(jsonEvents(defaultLimits), [encoder.encode(bodyText)]).filter(
            (event): event is Json => !isStreamFailed(event)
          )
        ]
  )

const hello = chatRequest([{ role: "user", content: "hi" }], { logprobs: true })
const vertex = { kind: "vertex-ai" } as const
const contexts = {
  gemini: { ...chatContext(), ordered: true },
  claude: { ...chatContext("claude-sonnet-4-5@20250929", { ...vertex, family: "claude" }), ordered: true },
  openAi: chatContext("meta/llama-4-maverick-17b-128e-instruct-maas", { ...vertex, family: "openai" }),
  predict: chatContext("3001", { ...vertex, family: "predict" })
} as const
const facts = answerFacts({ include: ["reasoning.encrypted_content"], reasoning: { summary: "auto" }, store: false })

const answerOf =
  <Req, Body, Reply, Out>(pair: Unary<Req, Body, Reply, Out>, context: TranslateContext, request: Req) =>
  (json: Json): Out | undefined => {
    const reply = Schema.decodeUnknownResult(pair.reply)(json)
    return Result.isFailure(reply) ? undefined : Result.getOrUndefined(pair.response(reply.success, context, request))
  }

const isChat = Schema.is(ChatRequest)
const bodyOf =
  <Body>(pair: Pick<Unary<ChatRequest, Body, never, unknown>, "request">, context: TranslateContext) =>
  (json: Json): Body | undefined =>
    isChat(json) ? Result.getOrUndefined(pair.request(json, context))?.body : undefined

const chatAnswers = {
  "chat-to-gemini": answerOf(translators["chat-to-gemini"], contexts.gemini, hello),
  "chat-to-claude": answerOf(translators["chat-to-claude"], contexts.claude, hello),
  "chat-to-openai": answerOf(translators["chat-to-openai"], contexts.openAi, hello),
  "chat-to-predict": answerOf(translators["chat-to-predict"], contexts.predict, hello)
}
const chatBodies = {
  "chat-to-gemini": bodyOf(translators["chat-to-gemini"], contexts.gemini),
  "chat-to-claude": bodyOf(translators["chat-to-claude"], contexts.claude),
  "chat-to-openai": bodyOf(translators["chat-to-openai"], contexts.openAi),
  "chat-to-predict": bodyOf(translators["chat-to-predict"], contexts.predict),
  "count-to-gemini": bodyOf(translators["count-to-gemini"], contexts.gemini),
  "count-to-claude": bodyOf(translators["count-to-claude"], contexts.claude)
}

const recorded = {
  gemini: answered("gemini", "gemini-api", "vertex-gemini"),
  claude: answered("claude", "vertex-anthropic", "anthropic-api"),
  openAi: answered("openai", "vertex-openapi"),
  unary: answered("unary", "gemini-embeddings", "vertex-predict", "gemini-count-tokens")
}
const embedding = { model: "gemini-embedding-001", input: "hi" }
const image = { model: "imagen-4.0-generate-001", prompt: "a tree" }
const imagen = chatContext(image.model, vertex)
const asArray = (json: Json): Json => (Array.isArray(json) ? json : [json])

/** A chat as an answer of the Responses API. */
const asResponse = (completion: ChatCompletion | undefined) =>
  completion === undefined ? undefined : responseFromChat(completion, facts)

const answers: ReadonlyArray<readonly [Codec, ReadonlyArray<Json>]> = [
  ...(["chat-to-gemini", "chat-to-claude", "chat-to-openai", "chat-to-predict"] as const).flatMap(
    (name): ReadonlyArray<readonly [Codec, ReadonlyArray<Json>]> => {
      const read = chatAnswers[name]
      const given = bodies(
        {
          "chat-to-gemini": recorded.gemini,
          "chat-to-claude": recorded.claude,
          "chat-to-openai": recorded.openAi,
          "chat-to-predict": recorded.unary
        }[name]
      )
      return [
        [{ name, read }, given],
        [{ name: `${name}, as a response`, read: (json) => asResponse(read(json)) }, given]
      ]
    }
  ),
  [
    { name: "native answer", read: (json) => readNativeReply("generateContent", bytesOf(json), noRedaction) },
    bodies(recorded.gemini)
  ],
  [
    { name: "images-to-gemini", read: answerOf(translators["images-to-gemini"], contexts.gemini, image) },
    bodies(recorded.gemini)
  ],
  ...[
    { name: "images-to-imagen", read: answerOf(translators["images-to-imagen"], imagen, image) },
    { name: "count-to-gemini", read: answerOf(translators["count-to-gemini"], contexts.gemini, hello) },
    { name: "count-to-claude", read: answerOf(translators["count-to-claude"], contexts.claude, hello) },
    { name: "embeddings-to-gemini", read: answerOf(translators["embeddings-to-gemini"], contexts.gemini, embedding) },
    {
      name: "embeddings-to-gemini-batch",
      read: answerOf(translators["embeddings-to-gemini-batch"], contexts.gemini, embedding)
    },
    { name: "embeddings-to-openai", read: answerOf(translators["embeddings-to-openai"], contexts.openAi, embedding) },
    { name: "embeddings-to-predict", read: answerOf(translators["embeddings-to-predict"], imagen, embedding) }
  ].map((codec) => [codec, bodies(recorded.unary)] as const)
]

/** The requests of the golden matrix, and the recorded answers as the history of a further request. */
const requests: ReadonlyArray<Json> = [
  ...folder("matrix").flatMap((text) => {
    const { each = [{}], request } = readCase(text)
    return each.map((fields): Json => ({ model: "m", ...request, ...fields }))
  }),
  ...answers.slice(0, 6).flatMap(([{ name, read }, given]) =>
    name.includes(",")
      ? []
      : given.map((json): Json => {
          const message = at(jsonOf(read(json)), ["choices", 0, "message"])
          return { model: "m", messages: [{ role: "user", content: "hi" }, message, { role: "user", content: "on" }] }
        })
  )
]
const asked = (names: ReadonlyArray<keyof typeof chatBodies>): ReadonlyArray<Json> =>
  names.flatMap((name) => requests.map((request) => jsonOf(chatBodies[name](request))))
const object = (json: Json): JsonObject => (isJsonObject(json) ? json : {})
const crossed =
  (kind: "google" | "vertex-ai", verb: "generateContent" | "batchEmbedContents" | "countTokens") => (json: Json) =>
    crossCall(
      verb,
      object(json),
      { id: "gemini-2.5-flash", record: builtInModels.find("gemini-2.5-flash").record },
      { kind, mixesTools: false, sharedRequestType: undefined }
    )
const outputs: ReadonlyArray<Json> = answers.slice(0, 6).flatMap(([{ name }, given]) => {
  const read = Object.entries(chatAnswers).find(([key]) => key === name)?.[1]
  return read === undefined
    ? []
    : given.map((json): Json => ({
        model: "m",
        input: asArray(at(jsonOf(asResponse(read(json))), ["response", "output"]))
      }))
})

const asks: ReadonlyArray<readonly [Codec, ReadonlyArray<Json>]> = [
  ...Object.entries(chatBodies).map(([name, read]) => [{ name: `request ${name}`, read }, requests] as const),
  [{ name: "responses request", read: (json) => translated(object(json)) }, outputs],
  [
    { name: "messages request", read: (json) => readMessagesRequest(object(json), bytesOf(json)) },
    asked(["chat-to-claude"])
  ],
  ...(["google", "vertex-ai"] as const).flatMap((kind) =>
    (["generateContent", "countTokens"] as const).map(
      (verb) => [{ name: `${verb} to ${kind}`, read: crossed(kind, verb) }, asked(["chat-to-gemini"])] as const
    )
  ),
  [
    {
      name: "request embeddings-to-gemini-batch",
      read: (json) =>
        isJsonObject(json) && Array.isArray(json["input"])
          ? translators["embeddings-to-gemini-batch"].request(
              { ...embedding, input: json["input"].map(String) },
              contexts.gemini
            )
          : undefined
    },
    [{ input: ["a"] }]
  ],
  [
    {
      name: "request embeddings-to-predict",
      read: (json) =>
        isJsonObject(json) && Array.isArray(json["input"])
          ? translators["embeddings-to-predict"].request({ ...embedding, input: json["input"].map(String) }, imagen)
          : undefined
    },
    [{ input: ["a"] }]
  ]
]

/** Every list of the documents, once for each place and form of its items: as it is, and with ids of its own for each item. */
const grownLists = ([codec, documents]: readonly [Codec, ReadonlyArray<Json>]): ReadonlyArray<Grown> => {
  const found = new Map<string, Grown>()
  for (const document of documents) {
    for (const path of listsIn(document)) {
      const list = at(document, path)
      if (!Array.isArray(list)) continue
      const place = path.map((step) => (typeof step === "number" ? "*" : step)).join(".")
      for (const isVaried of [false, true]) {
        const key = `${place} ${shapeOf(list)} ${isVaried}`
        if (found.has(key)) continue
        found.set(key, {
          title: `${codec.name}: ${place}${isVaried ? ", varied" : ""}`,
          work: (count) => {
            const grown = replacedAt(document, path, repeat(list, count, isVaried))
            return () => codec.read(grown)
          }
        })
      }
    }
  }
  return [...found.values()]
}

const folds = {
  gemini: () => translators["chat-to-gemini"].stream(contexts.gemini, hello),
  claude: () => translators["chat-to-claude"].stream(contexts.claude, hello),
  openAi: () => translators["chat-to-openai"].stream(contexts.openAi, hello)
}
type Dialect = keyof typeof folds

const sse = (events: ReadonlyArray<Json>): string =>
  events
    .map((event) => {
      const type = isJsonObject(event) ? event["type"] : undefined
      return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`
    })
    .join("")

/** What reads the events of a stream: the fold to chunks, the response made of them, and the stream that passes. */
const readersOf = (dialect: Dialect): ReadonlyArray<readonly [string, (events: ReadonlyArray<Json>) => unknown]> => {
  const chunks = (events: ReadonlyArray<Json>) => {
    const fold: Fold<unknown, Json, unknown> = folds[dialect]() as never
    return runFold(fold, events)
  }
  const passing = (fold: Fold<unknown, Uint8Array, unknown>) => (events: ReadonlyArray<Json>) =>
    runFold(
      fold,
      events.map((event) => encoder.encode(sse([event])))
    )
  return [
    [`${dialect} stream`, chunks],
    [
      `${dialect} stream as a response`,
      (events) => runFold(streamFromChat(facts), (chunks(events) as ReadonlyArray<never>).filter(isChunk))
    ],
    ...(dialect === "gemini"
      ? [["native stream", passing(nativeStream(defaultLimits, noRedaction) as never)] as const]
      : []),
    ...(dialect === "claude"
      ? [["messages stream", passing(messageStream(defaultLimits, noRedaction) as never)] as const]
      : [])
  ]
}

/** Every event, and every two and three events after each other, again and again at their place in the stream. */
const grownEvents = (dialect: Dialect): ReadonlyArray<Grown> => {
  const found = new Map<string, Grown>()
  for (const events of streams(recorded[dialect])) {
    for (const length of [1, 2, 3]) {
      for (let from = 0; from + length <= events.length; from++) {
        const some = events.slice(from, from + length)
        for (const isVaried of [false, true]) {
          for (const [name, read] of readersOf(dialect)) {
            const key = `${name} ${shapeOf(some)} ${length} ${isVaried}`
            if (found.has(key)) continue
            found.set(key, {
              title: `${name}: ${length} from event ${from}${isVaried ? ", varied" : ""}`,
              work: (count) => {
                const grown = [
                  ...events.slice(0, from),
                  ...repeat(some, count, isVaried),
                  ...events.slice(from + length)
                ]
                return () => read(grown)
              }
            })
          }
        }
      }
    }
  }
  return [...found.values()]
}

/** Bytes that come one by one, as chunks of one byte do. */
const eachByte = (text: string) => {
  const bytes = encoder.encode(text)
  return Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1))
}
const words = (count: number): string => "word ".repeat(count)
const texts = {
  "one long event": (event: (text: string) => string, count: number) => event(words(count)),
  "comments before an event": (event: (text: string) => string, count: number) =>
    ": wait\n\n".repeat(count) + event("x"),
  "comments without a blank line": (event: (text: string) => string, count: number) =>
    ": wait\n".repeat(count) + event("x"),
  "comments after an event": (event: (text: string) => string, count: number) =>
    event("x") + ": wait\n\n".repeat(count),
  "lines of one event": (_event: unknown, count: number) => "data: \n".repeat(count),
  "blank lines": (event: (text: string) => string, count: number) => event("x") + "\n".repeat(count),
  events: (event: (text: string) => string, count: number) => event("x").repeat(count / 10)
}
const contentOf = (text: string): Json => ({ candidates: [{ content: { role: "model", parts: [{ text }] } }] })
const delta = (text: string): Json => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })
const byteFolds = {
  "chat stream": [() => byteFold(folds.gemini()), (text: string) => sse([contentOf(text)])],
  "native stream": [() => nativeStream(defaultLimits, noRedaction), (text: string) => sse([contentOf(text)])],
  "native array": [
    () => nativeStream(defaultLimits, noRedaction),
    (text: string) => `[${JSON.stringify(contentOf(text))}\n,`
  ],
  "messages stream": [() => messageStream(defaultLimits, noRedaction), (text: string) => sse([delta(text)])]
} as const

const grownBytes: ReadonlyArray<Grown> = Object.entries(byteFolds).flatMap(([name, [start, event]]) =>
  Object.entries(texts).map(([what, text]) => ({
    title: `${name}, byte by byte: ${what}`,
    work: (count: number) => {
      const pieces = eachByte(text(event, count))
      return () => runFold(start() as never, pieces)
    }
  }))
)

const steep = (all: ReadonlyArray<Grown>): ReadonlyArray<string> =>
  all.flatMap(({ title, work }) => {
    const exponent = exponentOf(work, size, times)
    return exponent > mostExponent ? [`${title} (${exponent.toFixed(2)})`] : []
  })

describe("linear time", () => {
  it("answers: takes steps in proportion to every list, on every route (L31)", () => {
    expect(steep(some(answers.flatMap(grownLists)))).toEqual([])
  })

  it("requests: takes steps in proportion to every list, on every route (L31)", () => {
    expect(steep(some(asks.flatMap(grownLists)))).toEqual([])
  })

  it("streams: takes steps in proportion to the events, on every route (L31)", () => {
    expect(steep(some([...grownEvents("gemini"), ...grownEvents("claude"), ...grownEvents("openAi")]))).toEqual([])
  })

  it("streams: takes steps in proportion to bytes that come one by one (L31)", () => {
    expect(steep(grownBytes)).toEqual([])
  })
})
