// The OpenAI SDK: only the base URL and the key change.
// Start a gateway first: `npm run demo`. GATEWAY_URL and GATEWAY_API_KEY select another one.
import OpenAI from "openai"

const { GATEWAY_API_KEY = "mgk_demo", GATEWAY_URL = "http://127.0.0.1:8787" } = process.env
const client = new OpenAI({ baseURL: `${GATEWAY_URL}/v1`, apiKey: GATEWAY_API_KEY })

// Gemini, with a stream.
const stream = await client.chat.completions.create({
  model: "@google/gemini-3.8-flash",
  stream: true,
  messages: [{ role: "user", content: "Hello" }]
})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")
console.log()

// Claude with the same code, and a tool it must call.
const answer = await client.chat.completions.create({
  model: "@vertex-ai/anthropic.claude-haiku-5-5",
  max_tokens: 256,
  messages: [{ role: "user", content: "What is the weather in Rome?" }],
  tool_choice: "required",
  tools: [
    {
      type: "function",
      function: {
        name: "weather",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
      }
    }
  ]
})
for (const call of answer.choices[0]?.message.tool_calls ?? []) {
  if (call.type === "function") console.log(`calls ${call.function.name}`)
}
