// The settings of known programs that a refusal is about, in their own names.
// It must not know errors beyond their codes. Rule: W11.

type Topic = "key" | "model" | "context"

interface Client {
  readonly agent: string
  readonly name: string
  readonly settings: Readonly<Partial<Record<Topic, string>>>
}

/** By the beginning of `user-agent`. Programs whose settings are arguments of a constructor need no word. */
const clients: ReadonlyArray<Client> = [
  {
    agent: "claude-cli/",
    name: "Claude Code",
    settings: { key: "ANTHROPIC_AUTH_TOKEN", model: "ANTHROPIC_MODEL and ANTHROPIC_DEFAULT_HAIKU_MODEL" }
  },
  {
    agent: "codex_",
    name: "Codex",
    settings: {
      key: "the variable that env_key names in ~/.codex/config.toml",
      model: 'the setting "model" in ~/.codex/config.toml',
      context: 'the setting "model_context_window" in ~/.codex/config.toml'
    }
  },
  {
    agent: "GeminiCLI",
    name: "gemini-cli",
    settings: { key: "GEMINI_API_KEY", model: "GEMINI_MODEL or --model" }
  },
  {
    agent: "opencode/",
    name: "opencode",
    settings: {
      key: 'the setting "options.apiKey" of its provider in opencode.json',
      model: 'the setting "model" in opencode.json'
    }
  }
]

const topics: ReadonlyMap<string, Topic> = new Map([
  ["missing_gateway_key", "key"],
  ["invalid_gateway_key", "key"],
  ["model_not_found", "model"],
  ["model_not_allowed", "model"],
  ["model_not_priced", "model"],
  ["provider_missing", "model"],
  ["provider_not_found", "model"],
  ["unsupported_operation", "model"],
  ["context_length_exceeded", "context"]
])

const verbs: Readonly<Record<Topic, string>> = {
  key: "takes its key from",
  model: "takes the model from",
  context: "takes the size of the context from"
}

/** A sentence for the message of an error; empty where the client is not known or has no such setting. */
export const settingHint = (code: string, userAgent: string | undefined): string => {
  const topic = topics.get(code)
  if (topic === undefined || userAgent === undefined) return ""
  const client = clients.find(({ agent }) => userAgent.startsWith(agent))
  const setting = client?.settings[topic]
  return client === undefined || setting === undefined ? "" : ` ${client.name} ${verbs[topic]} ${setting}.`
}
