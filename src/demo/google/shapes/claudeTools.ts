// Declares the tools of a messages body: the caller's own, those of Anthropic's schema, and those the service runs.
// It must not depend on which tools a platform or a model serves.
// Source: the public description of Anthropic's Messages API.

import type { ModelShape } from "./modelShape.ts"

const common: ModelShape = {
  allowed_callers: "[Caller]",
  cache_control: "<CacheControl>|null",
  defer_loading: "boolean",
  strict: "boolean"
}

/** A tool of the provider: a fixed `name` under a dated `type`. */
const dated = (types: string, name: string, fields: ModelShape = {}): ModelShape => ({
  type: `${types
    .split(" ")
    .map((type) => `'${type}'`)
    .join("|")}!`,
  name: `'${name}'!`,
  ...common,
  ...fields
})

const examples: ModelShape = { input_examples: "[object]" }

const screen: ModelShape = {
  ...examples,
  display_height_px: "integer(1..)!",
  display_width_px: "integer(1..)!",
  display_number: "integer(0..)|null"
}

const search: ModelShape = {
  allowed_domains: "[string]|null",
  blocked_domains: "[string]|null",
  max_uses: "integer(1..)|null",
  user_location: "UserLocation|null"
}

const fetching: ModelShape = {
  allowed_domains: "[string]|null",
  blocked_domains: "[string]|null",
  citations: "CitationsConfig|null",
  max_content_tokens: "integer(1..)|null",
  max_uses: "integer(1..)|null",
  url_sources: "UrlSources|null"
}

const inclusion: ModelShape = { response_inclusion: "'full'|'excluded'" }

/** One optional switch for each action of a toolset. */
const actions = (names: string): ModelShape =>
  Object.fromEntries(names.split(" ").map((name) => [name, "ActionConfig|null"]))

const pointing =
  "double_click hold_key key left_click left_click_drag left_mouse_down left_mouse_up middle_click mouse_move right_click " +
  "screenshot scroll triple_click type wait zoom"

const toolset = (type: string, configs: string): ModelShape => ({
  type: `'${type}'!`,
  cache_control: "<CacheControl>|null",
  configs: `${configs}|null`
})

export const claudeTools: Readonly<Record<string, ModelShape>> = {
  CustomTool: {
    type: "'custom'|null",
    name: "/^[a-zA-Z0-9_-]{1,128}$/!",
    description: "string",
    input_schema: "InputSchema!",
    ...common,
    ...examples,
    eager_input_streaming: "boolean|null"
  },
  InputSchema: { type: "'object'!", properties: "any", required: "[string]|null" },
  Bash2024: dated("bash_20241022", "bash", examples),
  Bash: dated("bash_20250124", "bash", examples),
  Code: dated(
    "code_execution_20250522 code_execution_20250825 code_execution_20260120 code_execution_20260521",
    "code_execution"
  ),
  Computer: dated("computer_20241022 computer_20250124", "computer", screen),
  ZoomingComputer: dated("computer_20251124", "computer", { ...screen, enable_zoom: "boolean" }),
  Memory: dated("memory_20250818", "memory", examples),
  Editor2024: dated("text_editor_20241022", "str_replace_editor", examples),
  Editor2025: dated("text_editor_20250124", "str_replace_editor", examples),
  RenamedEditor: dated("text_editor_20250429", "str_replace_based_edit_tool", examples),
  Editor: dated("text_editor_20250728", "str_replace_based_edit_tool", {
    ...examples,
    max_characters: "integer(1..)|null"
  }),
  WebSearch: dated("web_search_20250305 web_search_20260209", "web_search", search),
  NewerWebSearch: dated("web_search_20260318", "web_search", { ...search, ...inclusion }),
  UserLocation: {
    type: "'approximate'!",
    city: "string(1..255)|null",
    country: "string(2..2)|null",
    region: "string(1..255)|null",
    timezone: "string(1..255)|null"
  },
  WebFetch: dated("web_fetch_20250910 web_fetch_20260209", "web_fetch", fetching),
  CachingWebFetch: dated("web_fetch_20260309", "web_fetch", { ...fetching, use_cache: "boolean" }),
  NewerWebFetch: dated("web_fetch_20260318", "web_fetch", { ...fetching, ...inclusion, use_cache: "boolean" }),
  UrlSources: {
    client_tool_results: "<UrlsAll UrlsNone UrlsOnly UrlsExcept>",
    server_tool_results: "<UrlsAll UrlsNone UrlsOnly UrlsExcept>",
    user_input: "<UrlsAll UrlsNone>"
  },
  UrlsAll: { type: "'all'!" },
  UrlsNone: { type: "'none'!" },
  UrlsOnly: { type: "'only'!", tools: "[UrlTool]!" },
  UrlsExcept: { type: "'except'!", tools: "[UrlTool]!" },
  UrlTool: { type: "'tool_reference'!", name: "string!" },
  ToolSearchBm25: dated("tool_search_tool_bm25_20251119 tool_search_tool_bm25", "tool_search_tool_bm25"),
  ToolSearchRegex: dated("tool_search_tool_regex_20251119 tool_search_tool_regex", "tool_search_tool_regex"),
  Advisor: dated("advisor_20260301", "advisor", {
    model: "string!",
    caching: "<CacheControl>|null",
    max_tokens: "integer|null",
    max_uses: "integer(1..)|null"
  }),
  McpToolset: {
    type: "'mcp_toolset'!",
    mcp_server_name: "string(1..255)!",
    cache_control: "<CacheControl>|null",
    configs: "{McpToolConfig}|null",
    default_config: "McpToolConfig",
    tools: "[McpTool]|null"
  },
  McpToolConfig: { defer_loading: "boolean", enabled: "boolean" },
  McpTool: { name: "string!", input_schema: "object!", description: "string|null" },
  BrowserToolset: toolset("browser_toolset_20260801", "BrowserActions"),
  ComputerToolset: toolset("computer_toolset_20260801", "ComputerActions"),
  BrowserActions: actions(
    `${pointing} close_tab file_upload find form_input get_page_text hover javascript_exec list_tabs navigate new_tab read_console read_network ` +
      "read_page scroll_to switch_tab"
  ),
  ComputerActions: actions(`${pointing} cursor_position`),
  ActionConfig: { defer_loading: "boolean|null", enabled: "boolean|null" }
}

export const toolAliases: Readonly<Record<string, string>> = {
  Caller: "'direct'|'code_execution_20250825'|'code_execution_20260120'|'code_execution_20260521'",
  AnyTool:
    "<CustomTool Bash Editor2025 RenamedEditor Editor Memory WebSearch NewerWebSearch ToolSearchBm25 ToolSearchRegex Code WebFetch " +
    "CachingWebFetch NewerWebFetch BrowserToolset ComputerToolset ~Bash2024 ~Editor2024 ~Computer ~ZoomingComputer ~Advisor ~McpToolset>"
}
