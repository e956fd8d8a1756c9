// The Anthropic SDK with Claude on Vertex AI. Bodies and events pass through unchanged.
// Start a gateway first: `npm run demo`. GATEWAY_URL and GATEWAY_API_KEY select another one.
import Anthropic from "@anthropic-ai/sdk"

const { GATEWAY_API_KEY = "mgk_demo", GATEWAY_URL = "http://127.0.0.1:8787" } = process.env
const client = new Anthropic({ baseURL: GATEWAY_URL, apiKey: GATEWAY_API_KEY })
const question = {
  model: "@vertex-ai/anthropic.claude-sonnet-5-5",
  messages: [{ role: "user" as const, content: "Hello" }]
}

const { input_tokens } = await client.messages.countTokens(question)
console.log(`asks with ${input_tokens} tokens`)

const stream = client.messages.stream({ ...question, max_tokens: 256 })
for await (const event of stream) {
  if (event.type === "content_block_delta" && event.delta.type === "text_delta") process.stdout.write(event.delta.text)
}
const { stop_reason } = await stream.finalMessage()
console.log(`\nends with ${stop_reason}`)
