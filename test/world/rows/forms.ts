// Reports about the form of answers: JSON, pictures, speech, searches.
// Must not depend on the service.
import type { Row } from "../row.ts"

const gemini = "@d/gemini-3.8-flash"
const gemma = "@d/gemma-3-27b-it"
const hi = [{ role: "user", content: "hi" }]
const hiGemini = { role: "user", parts: [{ text: "hi" }] }
const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
const asJson = { responseMimeType: "application/json", responseJsonSchema: { title: "response", ...schema } }
const words = "Answer with one JSON object, without any text or code fence around it."

const formats: ReadonlyArray<readonly [string, object]> = [
  ["schema next to json_object", { type: "json_object", schema }],
  ["response_schema next to json_object", { type: "json_object", response_schema: schema }],
  ["a schema in the place of json_schema", { type: "json_schema", json_schema: schema }],
  ["a schema next to json_schema", { type: "json_schema", name: "response", schema }],
  ["json_schema under json_object", { type: "json_object", json_schema: { name: "response", schema } }]
]

const json: ReadonlyArray<Row> = [
  {
    id: "RB67",
    kind: "W43",
    title: "Gemma gets the wish for JSON in words",
    body: { model: gemma, messages: hi, response_format: { type: "json_object" } },
    expected: { sent: [{ contents: [{ role: "user", parts: [{ text: words }, { text: "hi" }] }] }] }
  },
  ...formats.map(([title, response_format], at): Row => ({
    id: `W43-${at + 1}`,
    kind: "W43",
    title: `${title} is the schema of the answer`,
    body: { model: gemini, messages: hi, response_format },
    expected: { sent: [{ contents: [hiGemini], generationConfig: asJson }] }
  }))
]

const png = "iVBORw0KGgo="
const uri = `data:image/png;base64,${png}`
const picture = { inlineData: { mimeType: "image/png", data: png } }
const imageUrl = { type: "image_url", image_url: { url: uri } }
const drawn = (answer: object, model = "@d/gemini-2.5-flash-image") => ({
  model,
  messages: [
    { role: "user", content: "draw" },
    { role: "assistant", ...answer },
    { role: "user", content: "make it blue" }
  ]
})
const redrawn = (parts: ReadonlyArray<unknown>) => [
  {
    contents: [
      { role: "user", parts: [{ text: "draw" }] },
      { role: "model", parts },
      { role: "user", parts: [{ text: "make it blue" }] }
    ]
  }
]

const history: ReadonlyArray<readonly [string, object, ReadonlyArray<unknown>]> = [
  ["an address in images", { content: "here", images: [uri] }, [{ text: "here" }, picture]],
  ["images without a text", { content: null, images: [imageUrl] }, [picture]],
  [
    "content_parts",
    {
      content: "here",
      content_parts: [
        { type: "text", text: "here" },
        { type: "image", image: { b64_json: png } }
      ]
    },
    [{ text: "here" }, picture]
  ],
  [
    "a Markdown data link",
    { content: `here ![image](${uri}) it is` },
    [{ text: "here " }, picture, { text: " it is" }]
  ],
  [
    "a Markdown data link of a part",
    { content: [{ type: "text", text: `![a](${uri})![b](${uri})` }] },
    [picture, picture]
  ]
]

const pictures: ReadonlyArray<Row> = [
  {
    id: "RB74",
    kind: "W44",
    title: "pictures of an earlier answer in images go back to the model",
    body: drawn({ content: "here", images: [imageUrl] }),
    expected: { sent: redrawn([{ text: "here" }, picture]) }
  },
  ...history.map(([title, answer, parts], at): Row => ({
    id: `W44-${at + 1}`,
    kind: "W44",
    title: `${title}: the picture of an earlier answer goes back to the model`,
    body: drawn(answer),
    expected: { sent: redrawn(parts) }
  })),
  {
    id: "W44-10",
    kind: "W44",
    title: "a picture of an earlier answer stands in the next user turn for Claude",
    body: drawn({ content: `here ![image](${uri})` }, "@p/claude-sonnet-4-5"),
    expected: {
      sent: [
        {
          anthropic_version: "vertex-2023-10-16",
          max_tokens: 32_000,
          messages: [
            { role: "user", content: [{ type: "text", text: "draw" }] },
            { role: "assistant", content: [{ type: "text", text: "here " }] },
            {
              role: "user",
              content: [
                { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
                { type: "text", text: "make it blue" }
              ]
            }
          ]
        }
      ]
    }
  },
  {
    id: "W44-11",
    kind: "W44",
    title: "an open model gets the text of an earlier answer without its pictures",
    body: drawn({ content: "here", images: [imageUrl] }, "@p/meta/llama-4-maverick-17b-128e-instruct-maas"),
    expected: {
      sent: [
        {
          model: "meta/llama-4-maverick-17b-128e-instruct-maas",
          messages: [
            { role: "user", content: "draw" },
            { role: "assistant", content: "here" },
            { role: "user", content: "make it blue" }
          ]
        }
      ]
    }
  }
]

const tts = "@d/gemini-3.8-flash-tts"
const spoken = (data: string) => ({
  candidates: [{ content: { role: "model", parts: [{ inlineData: { mimeType: "audio/L16;rate=24000", data } }] } }]
})
const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
const spokenEnd = {
  candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }],
  usageMetadata
}
const event = (body: unknown) => `data: ${JSON.stringify(body)}\r\n\r\n`
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-ID",
  object: "chat.completion.chunk",
  created: 0,
  model: "gemini-3.8-flash-tts",
  choices: [{ index: 0, finish_reason, delta }]
})
const oneVoice = (voiceName: string) => ({ voiceConfig: { prebuiltVoiceConfig: { voiceName } } })
const speech = (model: string, rest: object, generationConfig: object, ignored: string | null = null) => ({
  body: { model, messages: hi, ...rest },
  expected: {
    headers: { "x-gateway-ignored-params": ignored },
    sent: [{ contents: [hiGemini], generationConfig: { responseModalities: ["AUDIO"], ...generationConfig } }]
  }
})
const speakers = {
  speechConfig: {
    multiSpeakerVoiceConfig: {
      speakerVoiceConfigs: [
        { speaker: "Ann", ...oneVoice("Kore") },
        { speaker: "Bob", ...oneVoice("Puck") }
      ]
    }
  }
}

const speechRows: ReadonlyArray<Row> = [
  {
    id: "RB71",
    kind: "W46",
    title: "speech is streamed as pcm16",
    body: {
      model: tts,
      messages: hi,
      stream: true,
      modalities: ["audio"],
      audio: { voice: "Kore", format: "pcm16" }
    },
    upstream: [{ status: 200, body: [event(spoken("AQI=")), event(spoken("AwQ=")), event(spokenEnd)] }],
    expected: {
      sent: [
        {
          contents: [hiGemini],
          generationConfig: { responseModalities: ["AUDIO"], speechConfig: oneVoice("Kore") }
        }
      ],
      answer: [
        chunk({ role: "assistant", content: "" }),
        chunk({ audio: { id: "audio-ID", expires_at: 0, data: "AQI=", transcript: "" } }),
        chunk({ audio: { data: "AwQ=" } }),
        chunk({}, "stop"),
        "[DONE]"
      ]
    }
  },
  {
    id: "RB73",
    kind: "W46",
    title: "a speech model that is called as a chat is asked for audio",
    ...speech("@d/gemini-2.5-flash-preview-tts", {}, {})
  },
  {
    id: "W46-10",
    kind: "W46",
    title: "a speech model that is asked for text speaks, and the wish is named",
    ...speech(tts, { modalities: ["text"], audio: { voice: "Kore" } }, { speechConfig: oneVoice("Kore") }, "modalities")
  },
  {
    id: "W46-11",
    kind: "W46",
    title: "two speakers have a voice each",
    ...speech(
      tts,
      {
        modalities: ["audio"],
        audio: {
          voices: [
            { speaker: "Ann", voice: "Kore" },
            { speaker: "Bob", voice: "Puck" }
          ]
        }
      },
      speakers
    )
  },
  {
    id: "W46-12",
    kind: "W46",
    title: "speakers may be names with their voices",
    ...speech(tts, { audio: { voices: { Ann: "Kore", Bob: "Puck" } } }, speakers)
  },
  {
    id: "W46-13",
    kind: "W46",
    title: "Google's own speech settings pass",
    ...speech(
      tts,
      { extra_body: { google: { speech_config: { languageCode: "de-DE" } } } },
      {
        speechConfig: { languageCode: "de-DE" }
      }
    )
  },
  {
    id: "W46-14",
    kind: "W46",
    title: "a stream has no WAV header, and the format is named",
    body: { model: tts, messages: hi, stream: true, audio: { voice: "Kore", format: "wav" } },
    upstream: [{ status: 200, body: [event(spoken("AQI=")), event(spokenEnd)] }],
    expected: { headers: { "x-gateway-ignored-params": "audio.format" } }
  }
]

const claudeSearch = { type: "web_search_20250305", name: "web_search" }
const claudeSent = (tool: object) => [
  {
    anthropic_version: "vertex-2023-10-16",
    max_tokens: 32_000,
    tools: [tool],
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }]
  }
]
const place = { type: "approximate", approximate: { country: "DE", city: "Berlin" } }
const latLng = { latitude: 52.5, longitude: 13.4 }
const maps = (rest: object, retrievalConfig: object, tool: object = { googleMaps: {} }) => ({
  body: { model: gemini, messages: hi, tools: [tool], ...rest },
  expected: {
    headers: { "x-gateway-ignored-params": null },
    sent: [{ contents: [hiGemini], tools: [{ googleMaps: {} }], toolConfig: { retrievalConfig } }]
  }
})

const atHome = { lat_lng: latLng }
const placed: ReadonlyArray<readonly [string, object]> = [
  ["extra_body.google", { extra_body: { google: { retrieval_config: atHome } } }],
  ["google", { google: { retrievalConfig: atHome } }],
  ["extra_body", { extra_body: { retrieval_config: atHome } }],
  [
    "the settings of tools in extra_body.google",
    { extra_body: { google: { tool_config: { retrieval_config: atHome } } } }
  ],
  ["retrievalConfig", { retrievalConfig: atHome }]
]

const searches: ReadonlyArray<Row> = [
  {
    id: "RB70",
    kind: "W46",
    title: "Claude searches the web by web_search_options",
    body: { model: "@p/claude-sonnet-4-6", messages: hi, web_search_options: {} },
    expected: { headers: { "x-gateway-ignored-params": null }, sent: claudeSent(claudeSearch) }
  },
  {
    id: "W46-20",
    kind: "W46",
    title: "Claude's search has the place of the user",
    body: { model: "@p/claude-sonnet-4-6", messages: hi, web_search_options: { user_location: place } },
    expected: {
      sent: claudeSent({ ...claudeSearch, user_location: { type: "approximate", country: "DE", city: "Berlin" } })
    }
  },
  {
    id: "W46-21",
    kind: "W46",
    title: "Anthropic's search tool on the chat path keeps its options",
    body: { model: "@p/claude-sonnet-4-6", messages: hi, tools: [{ ...claudeSearch, max_uses: 2 }] },
    expected: { sent: claudeSent({ ...claudeSearch, max_uses: 2 }) }
  },
  {
    id: "W46-22",
    kind: "W46",
    title: "Gemini's search has no place, which is named",
    body: { model: gemini, messages: hi, web_search_options: { user_location: place } },
    expected: {
      headers: { "x-gateway-ignored-params": "web_search_options.user_location" },
      sent: [{ contents: [hiGemini], tools: [{ googleSearch: {} }] }]
    }
  },
  {
    id: "W46-23",
    kind: "W46",
    title: "maps have the place of retrieval_config",
    ...maps(
      { tool_config: { retrieval_config: { lat_lng: latLng, language_code: "de" } } },
      { latLng, languageCode: "de" }
    )
  },
  {
    id: "W46-24",
    kind: "W46",
    title: "maps have the place of their own object",
    ...maps({}, { latLng, languageCode: "de" }, { googleMaps: { ...latLng, languageCode: "de" } })
  },
  {
    id: "W46-25",
    kind: "W46",
    title: "maps have the place of Google's toolConfig",
    ...maps({ toolConfig: { retrievalConfig: { latLng } } }, { latLng }, { type: "google_maps" })
  },
  ...placed.map(([title, rest], at): Row => ({
    id: `W46-${26 + at}`,
    kind: "W46",
    title: `maps have the place of ${title}`,
    ...maps(rest, { latLng })
  })),
  {
    id: "W46-40",
    kind: "W46",
    title: "a place without maps is named, and other fields next to it stay",
    body: {
      model: gemini,
      messages: hi,
      extra_body: { google: { retrieval_config: { lat_lng: latLng }, thinking_config: { thinking_level: "low" } } }
    },
    expected: {
      headers: { "x-gateway-ignored-params": "extra_body.google.retrieval_config" },
      sent: [{ contents: [hiGemini], generationConfig: { thinkingConfig: { thinkingLevel: "low" } } }]
    }
  }
]

const drawing = "@d/gemini-2.5-flash-image"
const drawnReply = {
  candidates: [
    { content: { role: "model", parts: [{ text: "Here" }, { inlineData: { mimeType: "image/png", data: png } }] } }
  ]
}
const drawnEnd = { candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }], usageMetadata }
const drawnWhole = { candidates: [{ ...drawnReply.candidates[0], finishReason: "STOP" }], usageMetadata }
const link = `\n![image](${uri})\n`
const parts = [
  { type: "text", text: "Here" },
  { type: "image", image: { b64_json: png, mime_type: "image/png" } }
]
const answered = (message: object, rest: object = {}) => ({
  id: "chatcmpl-ID",
  object: "chat.completion",
  created: 0,
  model: "gemini-2.5-flash-image",
  usage: {
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: 2,
    prompt_tokens_details: { cached_tokens: 0 },
    ...rest
  },
  choices: [
    { index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", refusal: null, ...message } }
  ]
})
const drawnChunk = (delta: object, finish_reason: string | null = null) => ({
  ...chunk(delta, finish_reason),
  model: "gemini-2.5-flash-image"
})
const drawBody = { model: drawing, messages: hi, modalities: ["image", "text"] }
const omitted = "x-gateway-omitted-content"

const pictureForms: ReadonlyArray<Row> = [
  {
    id: "RB25",
    kind: "W36",
    title: "a strict answer names the picture that it lacks",
    body: drawBody,
    upstream: [{ status: 200, body: drawnWhole }],
    expected: { headers: { [omitted]: "images" }, answer: answered({ content: "Here" }) }
  },
  {
    id: "W36-1",
    kind: "W36",
    title: "a strict answer has its pictures as Markdown when the header asks for it",
    headers: { "x-gateway-images": "markdown" },
    body: drawBody,
    upstream: [{ status: 200, body: drawnWhole }],
    expected: { headers: { [omitted]: null }, answer: answered({ content: `Here${link}` }) }
  },
  {
    id: "W36-2",
    kind: "W36",
    title: "a strict stream has its pictures as Markdown when the header asks for it",
    headers: { "x-gateway-images": "markdown" },
    body: { ...drawBody, stream: true },
    upstream: [{ status: 200, body: [event(drawnReply), event(drawnEnd)] }],
    expected: {
      headers: { [omitted]: null },
      answer: [
        drawnChunk({ role: "assistant", content: "" }),
        drawnChunk({ content: "Here" }),
        drawnChunk({ content: link }),
        drawnChunk({}, "stop"),
        "[DONE]"
      ]
    }
  },
  {
    id: "W36-3",
    kind: "W36",
    title: "a strict stream that was asked for pictures names that it lacks them",
    body: { ...drawBody, stream: true },
    upstream: [{ status: 200, body: [event(drawnReply), event(drawnEnd)] }],
    expected: { headers: { [omitted]: "images" } }
  },
  {
    id: "W36-4",
    kind: "W36",
    title: "an answer that is not strict has its pictures in content_parts and in images",
    headers: { "x-gateway-strict-schema-compliance": "false" },
    body: drawBody,
    upstream: [{ status: 200, body: drawnWhole }],
    expected: {
      headers: { [omitted]: null },
      answer: {
        ...answered({}, { upstream: usageMetadata, cost: 0.000003 }),
        provider: "google",
        choices: [
          {
            index: 0,
            finish_reason: "stop",
            native_finish_reason: "STOP",
            logprobs: null,
            message: {
              role: "assistant",
              content: "Here",
              refusal: null,
              content_blocks: [{ type: "text", text: "Here" }],
              content_parts: parts,
              images: [{ type: "image_url", image_url: { url: uri }, index: 0 }]
            }
          }
        ]
      }
    }
  },
  {
    id: "RB93",
    kind: "W36",
    title: "a strict answer names code of the provider that it lacks",
    body: { model: gemini, messages: hi, tools: [{ codeExecution: {} }] },
    upstream: [
      {
        status: 200,
        body: {
          candidates: [
            {
              content: { role: "model", parts: [{ executableCode: { language: "PYTHON", code: "1" } }, { text: "1" }] },
              finishReason: "STOP"
            }
          ],
          usageMetadata
        }
      }
    ],
    expected: { headers: { [omitted]: "provider_parts" } }
  },
  {
    id: "W36-5",
    kind: "W36",
    title: "another form of pictures is refused at its header",
    headers: { "x-gateway-images": "html" },
    body: drawBody,
    expected: {
      status: 400,
      answer: {
        error: {
          message: 'x-gateway-images is "markdown".',
          type: "invalid_request_error",
          param: "x-gateway-images",
          code: "invalid_header"
        }
      }
    }
  }
]

export const forms: ReadonlyArray<Row> = [...pictureForms, ...json, ...pictures, ...speechRows, ...searches]
