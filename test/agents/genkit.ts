// genkit with Google's plugin, which is a library: one script that generates, streams, calls a tool and embeds.
// Must not know how processes are started or how results are shown.
import type { Agent } from "./clients.ts"

const script = (origin: string, apiKey: string): string => `
import { googleAI } from "@genkit-ai/google-genai"
import { genkit, z } from "genkit"

const ai = genkit({ plugins: [googleAI({ apiKey: "${apiKey}", baseUrl: "${origin}" })] })
const model = googleAI.model("gemini-2.5-flash")
const tide = ai.defineTool(
  { name: "tide", description: "The time of the next tide", inputSchema: z.object({ place: z.string() }) },
  async ({ place }) => place + " at 14:05"
)
const steps = {
  generate: async () => (await ai.generate({ model, prompt: "Say hello. demo:no-call" })).text,
  stream: async () => {
    let text = ""
    for await (const chunk of ai.generateStream({ model, prompt: "Say hello. demo:no-call" }).stream) text += chunk.text
    return text
  },
  tool: async () => {
    const { messages } = await ai.generate({ model, prompt: 'demo:call tide {"place":"Kiel"}', tools: [tide] })
    return messages.flatMap(({ content }) => content.flatMap((part) => part.toolResponse?.output ?? [])).join()
  },
  embed: async () => {
    const embedder = googleAI.embedder("gemini-embedding-001")
    return (await ai.embed({ embedder, content: "Hello" }))[0].embedding.length + " numbers"
  }
}
console.log(await steps[process.argv[1]]())
`

/** `answered`: the end of every text answer. */
export const genkit = (origin: string, apiKey: string, answered: string): Agent => ({
  name: "genkit",
  package: "@genkit-ai/google-genai",
  version: "1.42.0",
  alongside: ["genkit@1.42.0"],
  script: script(origin, apiKey),
  command: "genkit",
  steps: Object.entries({ generate: answered, stream: answered, tool: "Kiel at 14:05", embed: "3072 numbers" }).map(
    ([name, shows]) => ({ name, args: [name], env: {}, shows })
  )
})
