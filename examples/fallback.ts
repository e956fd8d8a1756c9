// A config sent with the request: when the first target is overloaded, the second one answers.
// Start a gateway first: `npm run demo`. GATEWAY_URL and GATEWAY_API_KEY select another one.
import OpenAI from "openai"

const { GATEWAY_API_KEY = "mgk_demo", GATEWAY_URL = "http://127.0.0.1:8787" } = process.env

// Declared under `configs` in gateway.yaml, the header contains only the config's id.
const config = {
  strategy: { mode: "fallback", on_status_codes: [429, 503] },
  retry: { attempts: 0 },
  targets: [
    { override_params: { model: "@google/demo-503" } },
    { override_params: { model: "@vertex-ai/gemini-3.8-flash" } }
  ]
}

const client = new OpenAI({
  baseURL: `${GATEWAY_URL}/v1`,
  apiKey: GATEWAY_API_KEY,
  defaultHeaders: { "x-gateway-config": JSON.stringify(config) }
})
const { data, response } = await client.chat.completions
  .create({ model: "gemini-3.8-flash", messages: [{ role: "user", content: "Hello" }] })
  .withResponse()

const header = (name: string) => response.headers.get(`x-gateway-${name}`)
console.log(`target ${header("last-used-option-index")} (${header("provider")}) answered:`)
console.log(data.choices[0]?.message.content)
