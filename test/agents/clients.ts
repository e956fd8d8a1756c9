// The coding agents that `npm run agents` runs: their packages, how each is started, and what a good run prints.
// Must not know how processes are started or how results are shown.

import { genkit } from "./genkit.ts"

/** One start of an agent. */
export interface Step {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  /** Standard output must contain this text. */
  readonly shows: string
  /** Files of the agent's home that are written first, by path. */
  readonly files?: Readonly<Record<string, string>>
}

export interface Agent {
  readonly name: string
  readonly package: string
  readonly version: string
  /** Further packages, as `name@version`. */
  readonly alongside?: ReadonlyArray<string>
  /** The command in `node_modules/.bin`; of a library the name of its folder alone. */
  readonly command: string
  /** A module that is run instead of the command, with the arguments of a step. */
  readonly script?: string
  /** A script of the package that fetches nothing and puts its own binary in place. */
  readonly afterInstall?: string
  readonly steps: ReadonlyArray<Step>
}

/** Where the demo gateway listens. The network namespace has no other listener. */
export const origin = "http://127.0.0.1:8787"
const gatewayKey = "mgk_demo"

/** The file that tool turns read. */
export const note = { name: "notes.txt", text: "The tide turns at 14:05 today." } as const

/** The end of every text answer of the simulated models. */
const answered = "answers in the true wire format"
const prompt = "Say hello. demo:no-call"
const calling = (tool: string, args: object): string => `demo:call ${tool} ${JSON.stringify(args)}`

const claudeArgs = ["--output-format", "json", "--allowedTools", "Read"]
const claudeModes = {
  "base URL": { ANTHROPIC_BASE_URL: origin, ANTHROPIC_AUTH_TOKEN: gatewayKey },
  "Vertex AI": {
    CLAUDE_CODE_USE_VERTEX: "1",
    CLAUDE_CODE_SKIP_VERTEX_AUTH: "1",
    ANTHROPIC_VERTEX_BASE_URL: `${origin}/v1`,
    ANTHROPIC_VERTEX_PROJECT_ID: "any-project",
    CLOUD_ML_REGION: "global",
    ANTHROPIC_CUSTOM_HEADERS: `x-gateway-api-key: ${gatewayKey}`
  }
} as const

const claude = (folder: string): Agent => ({
  name: "Claude Code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.330",
  command: "claude",
  afterInstall: "install.cjs",
  steps: Object.entries(claudeModes).flatMap(([mode, env]): ReadonlyArray<Step> => [
    { name: `${mode}: prompt`, args: ["-p", prompt, ...claudeArgs], env, shows: answered },
    {
      name: `${mode}: tool turn`,
      args: ["-p", calling("Read", { file_path: `${folder}/${note.name}` }), ...claudeArgs],
      env,
      shows: note.text
    }
  ])
})

const geminiModes = {
  "API key": { type: "gemini-api-key", env: { GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: gatewayKey } },
  "Vertex AI": {
    type: "vertex-ai",
    env: { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_VERTEX_BASE_URL: origin, GOOGLE_API_KEY: gatewayKey }
  }
} as const

const noRetries = '{"retry":{"attempts":0}}'

const gemini: Agent = {
  name: "gemini-cli",
  package: "@google/gemini-cli",
  version: "0.61.0",
  command: "gemini",
  steps: Object.entries(geminiModes).flatMap(([mode, { env, type }]) => {
    const step = (name: string, shows: string, ...args: ReadonlyArray<string>): Step => ({
      name: `${mode}: ${name}`,
      args,
      // Without retries of the gateway the client itself reads a 429.
      env: { ...env, GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_CUSTOM_HEADERS: `x-gateway-config: ${noRetries}` },
      shows,
      files: { ".gemini/settings.json": JSON.stringify({ security: { auth: { selectedType: type } } }) }
    })
    return [
      step("prompt", answered, "-p", prompt),
      step("tool turn", note.text, "-p", calling("read_file", { file_path: note.name })),
      ...(mode === "API key"
        ? [
            step("429 with RetryInfo", answered, "-m", "demo-flaky-429", "-p", prompt),
            step("20 s of silence", answered, "-m", "demo-silent", "-p", prompt)
          ]
        : [])
    ]
  })
}

const codexConfig = `model = "@vertex-ai/gemini-3.8-flash"
model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "${origin}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
`

const codex: Agent = {
  name: "Codex",
  package: "@openai/codex",
  version: "0.169.0",
  command: "codex",
  steps: (
    [
      ["prompt", answered, prompt],
      ["shell tool turn", note.text, calling("exec_command", { cmd: `cat ${note.name}` })],
      ["second turn with resume", answered, "resume", "--last", "Say more. demo:no-call"]
    ] as const
  ).map(([name, shows, ...args]) => ({
    name,
    // The namespace is the sandbox.
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", ...args],
    env: { GATEWAY_KEY: gatewayKey },
    shows,
    files: { ".codex/config.toml": codexConfig }
  }))
}

/** Every agent; tool turns name the file below this folder. */
export const agents = (folder: string): ReadonlyArray<Agent> => [
  claude(folder),
  gemini,
  codex,
  genkit(origin, gatewayKey, answered)
]
