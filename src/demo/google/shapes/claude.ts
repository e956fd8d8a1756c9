// Declares the messages body of Claude on Vertex AI and the body that counts its tokens; unknown fields are refused.
// It must not depend on semantic rules, models or the gateway's schemas.
// Source: the public description of Anthropic's Messages API.

import { claudeTools, toolAliases } from "./claudeTools.ts"
import { compileModels } from "./modelShape.ts"
import type { ModelShape, ModelShapes } from "./modelShape.ts"

const cache = "<CacheControl>|null"

/** A block of a message: its `type` and fields, with a cache breakpoint if the block allows one. */
const block = (type: string, fields: ModelShape): ModelShape => ({ type: `'${type}'!`, ...fields })
const cachedBlock = (type: string, fields: ModelShape): ModelShape => block(type, { cache_control: cache, ...fields })

const serverId = "/^srvtoolu_[a-zA-Z0-9_]+$/!"
const callId = "/^[a-zA-Z0-9_-]+$/!"
const caller = "<DirectCaller CodeCaller NewerCodeCaller>"
const busy = "'invalid_tool_input'|'unavailable'|'too_many_requests'|'execution_time_exceeded'"

const textBlocks: Readonly<Record<string, ModelShape>> = {
  CacheControl: { type: "'ephemeral'!", ttl: "'5m'|'1h'" },
  TextBlock: cachedBlock("text", { text: "string(1..)!", citations: "[Citation]|null" }),
  CharLocation: block("char_location", {
    cited_text: "string!",
    document_index: "integer(0..)!",
    document_title: "string(1..255)|null!",
    start_char_index: "integer(0..)!",
    end_char_index: "integer!"
  }),
  PageLocation: block("page_location", {
    cited_text: "string!",
    document_index: "integer(0..)!",
    document_title: "string(1..255)|null!",
    start_page_number: "integer(1..)!",
    end_page_number: "integer!"
  }),
  BlockLocation: block("content_block_location", {
    cited_text: "string!",
    document_index: "integer(0..)!",
    document_title: "string(1..255)|null!",
    start_block_index: "integer(0..)!",
    end_block_index: "integer!"
  }),
  WebLocation: block("web_search_result_location", {
    cited_text: "string!",
    encrypted_index: "string!",
    title: "string(1..512)|null!",
    url: "string(1..2048)!"
  }),
  SearchLocation: block("search_result_location", {
    cited_text: "string!",
    source: "string!",
    title: "string|null!",
    search_result_index: "integer(0..)!",
    start_block_index: "integer(0..)!",
    end_block_index: "integer!"
  }),
  ThinkingBlock: block("thinking", { thinking: "string!", signature: "string!" }),
  RedactedBlock: block("redacted_thinking", { data: "string!" })
}

const mediaBlocks: Readonly<Record<string, ModelShape>> = {
  ImageBlock: cachedBlock("image", {
    source: "<ImageBytes UrlSource FileSource>!",
    transformations: "Transformations|null"
  }),
  ImageBytes: block("base64", { data: "string!", media_type: "'image/jpeg'|'image/png'|'image/gif'|'image/webp'!" }),
  UrlSource: block("url", { url: "string!" }),
  FileSource: block("file", { file_id: "string!" }),
  Transformations: { oversized_image: "'downsize'|'error'" },
  DocumentBlock: cachedBlock("document", {
    source: "<PdfBytes PlainText OwnBlocks UrlSource FileSource>!",
    title: "string(1..500)|null",
    context: "string(1..)|null",
    citations: "CitationsConfig|null"
  }),
  PdfBytes: block("base64", { data: "string!", media_type: "'application/pdf'!" }),
  PlainText: block("text", { data: "string!", media_type: "'text/plain'!" }),
  OwnBlocks: block("content", { content: "string|[<TextBlock ImageBlock>]!" }),
  CitationsConfig: { enabled: "boolean" },
  SearchResultBlock: cachedBlock("search_result", {
    source: "string!",
    title: "string!",
    content: "[<TextBlock>]!",
    citations: "CitationsConfig"
  }),
  ContainerUpload: cachedBlock("container_upload", { file_id: "string!" })
}

const callBlocks: Readonly<Record<string, ModelShape>> = {
  DirectCaller: block("direct", {}),
  CodeCaller: block("code_execution_20250825", { tool_id: serverId }),
  NewerCodeCaller: block("code_execution_20260120", { tool_id: serverId }),
  ToolUse: cachedBlock("tool_use", {
    id: callId,
    name: "string(1..200)!",
    input: "any!",
    caller,
    toolset_name: "string|null"
  }),
  ToolResult: cachedBlock("tool_result", {
    tool_use_id: callId,
    content: "string|[<TextBlock ImageBlock SearchResultBlock DocumentBlock ToolReference BrowserState>]",
    is_error: "boolean",
    toolset_name: "string|null"
  }),
  ToolReference: cachedBlock("tool_reference", { tool_name: "/^[a-zA-Z0-9_-]{1,256}$/!" }),
  BrowserState: cachedBlock("browser_state", {
    tabs: "[BrowserTab]!",
    state_changes: "[<TabOpened DownloadStarted DownloadCompleted DownloadFailed>]|null"
  }),
  BrowserTab: { tab_id: "string!", title: "string!", url: "string!", active: "boolean" },
  TabOpened: block("tab_opened", { tab_id: "string!" }),
  DownloadStarted: block("download_started", { download_id: "string!", url: "string!" }),
  DownloadCompleted: block("download_completed", {
    download_id: "string!",
    url: "string!",
    path: "string|null",
    size_bytes: "number|null"
  }),
  DownloadFailed: block("download_failed", { download_id: "string!", url: "string!", error: "string|null" }),
  ServerToolUse: cachedBlock("server_tool_use", {
    id: serverId,
    name:
      "'web_search'|'web_fetch'|'code_execution'|'bash_code_execution'|'text_editor_code_execution'|'tool_search_tool_regex'|" +
      "'tool_search_tool_bm25'|~'advisor'!",
    input: "any!",
    caller
  }),
  McpToolUse: cachedBlock("mcp_tool_use", { id: callId, name: "string!", server_name: "string!", input: "any!" }),
  McpToolResult: cachedBlock("mcp_tool_result", {
    tool_use_id: callId,
    content: "string|[<TextBlock>]",
    is_error: "boolean"
  })
}

const resultBlocks: Readonly<Record<string, ModelShape>> = {
  WebSearchResults: cachedBlock("web_search_tool_result", {
    tool_use_id: serverId,
    content: "[<WebSearchHit>]|<WebSearchError>!",
    caller
  }),
  WebSearchHit: block("web_search_result", {
    title: "string!",
    url: "string!",
    encrypted_content: "string!",
    page_age: "string|null"
  }),
  WebSearchError: block("web_search_tool_result_error", {
    error_code:
      "'invalid_tool_input'|'unavailable'|'max_uses_exceeded'|'too_many_requests'|'query_too_long'|'request_too_large'!"
  }),
  WebFetchResult: cachedBlock("web_fetch_tool_result", {
    tool_use_id: serverId,
    content: "<WebFetchError WebFetched>!",
    caller
  }),
  WebFetched: block("web_fetch_result", { url: "string!", content: "<DocumentBlock>!", retrieved_at: "string|null" }),
  WebFetchError: block("web_fetch_tool_result_error", {
    error_code:
      "'invalid_tool_input'|'url_too_long'|'url_not_allowed'|'url_not_accessible'|'unsupported_content_type'|'too_many_requests'|" +
      "'max_uses_exceeded'|'unavailable'|'url_not_in_prior_context'|'content_too_large'!"
  }),
  CodeResult: cachedBlock("code_execution_tool_result", {
    tool_use_id: serverId,
    content: "<CodeError CodeOutput EncryptedOutput>!"
  }),
  CodeError: block("code_execution_tool_result_error", { error_code: `${busy}!` }),
  CodeOutput: block("code_execution_result", {
    stdout: "string!",
    stderr: "string!",
    return_code: "integer!",
    content: "[<CodeFile>]!"
  }),
  EncryptedOutput: block("encrypted_code_execution_result", {
    encrypted_stdout: "string!",
    stderr: "string!",
    return_code: "integer!",
    content: "[<CodeFile>]!"
  }),
  CodeFile: block("code_execution_output", { file_id: "string!" }),
  BashResult: cachedBlock("bash_code_execution_tool_result", {
    tool_use_id: serverId,
    content: "<BashError BashOutput>!"
  }),
  BashError: block("bash_code_execution_tool_result_error", { error_code: `${busy}|'output_file_too_large'!` }),
  BashOutput: block("bash_code_execution_result", {
    stdout: "string!",
    stderr: "string!",
    return_code: "integer!",
    content: "[<BashFile>]!"
  }),
  BashFile: block("bash_code_execution_output", { file_id: "string!" }),
  EditorResult: cachedBlock("text_editor_code_execution_tool_result", {
    tool_use_id: serverId,
    content: "<EditorError EditorView EditorCreate EditorReplace>!"
  }),
  EditorError: block("text_editor_code_execution_tool_result_error", {
    error_code: `${busy}|'file_not_found'!`,
    error_message: "string|null"
  }),
  EditorView: block("text_editor_code_execution_view_result", {
    content: "string!",
    file_type: "'text'|'image'|'pdf'!",
    num_lines: "integer|null",
    start_line: "integer|null",
    total_lines: "integer|null"
  }),
  EditorCreate: block("text_editor_code_execution_create_result", { is_file_update: "boolean!" }),
  EditorReplace: block("text_editor_code_execution_str_replace_result", {
    lines: "[string]|null",
    new_lines: "integer|null",
    new_start: "integer|null",
    old_lines: "integer|null",
    old_start: "integer|null"
  }),
  ToolSearchResult: cachedBlock("tool_search_tool_result", {
    tool_use_id: serverId,
    content: "<ToolSearchError ToolSearchHits>!"
  }),
  ToolSearchError: block("tool_search_tool_result_error", { error_code: `${busy}!`, error_message: "string|null" }),
  ToolSearchHits: block("tool_search_tool_search_result", { tool_references: "[<ToolReference>]!" }),
  AdvisorResult: cachedBlock("advisor_tool_result", {
    tool_use_id: serverId,
    content: "<AdvisorError AdvisorText AdvisorRedacted>!"
  }),
  AdvisorError: block("advisor_tool_result_error", {
    error_code:
      "'max_uses_exceeded'|'prompt_too_long'|'too_many_requests'|'overloaded'|'unavailable'|'execution_time_exceeded'|'model_not_found'!"
  }),
  AdvisorText: block("advisor_result", { text: "string!", stop_reason: "string|null" }),
  AdvisorRedacted: block("advisor_redacted_result", { encrypted_content: "string!", stop_reason: "string|null" })
}

/** Blocks of beta features. */
const betaBlocks: Readonly<Record<string, ModelShape>> = {
  Compaction: cachedBlock("compaction", {
    content: "string|null",
    encrypted_content: "string|null",
    signature: "string|null",
    tool_changes: "[<ToolAddition ToolRemoval>]|null"
  }),
  ToolAddition: cachedBlock("tool_addition", { tool: "<NamedTool NamedMcpTool NamedMcpToolset ToolDefinition>!" }),
  ToolRemoval: cachedBlock("tool_removal", { tool: "<NamedTool NamedMcpTool NamedMcpToolset>!" }),
  NamedTool: block("tool_reference", { name: "string!" }),
  NamedMcpTool: block("mcp_tool_reference", { name: "string!", server_name: "string!" }),
  NamedMcpToolset: block("mcp_toolset_reference", { server_name: "string!" }),
  ToolDefinition: block("tool_definition", { definition: "AnyTool!" }),
  McpListing: block("mcp_tool_listing", { mcp_server_name: "string!", tools: "[McpTool]!" }),
  Fallback: block("fallback", { from: "FallbackModel!", to: "FallbackModel!", trigger: "any" }),
  FallbackModel: { model: "string!" }
}

const counted: ModelShape = {
  messages: "[<Message SystemMessage>]!",
  cache_control: cache,
  output_config: "OutputConfig",
  speed: "'standard'|'fast'|null",
  system: "string|[<TextBlock>]",
  thinking: "<ThinkingEnabled ThinkingDisabled ThinkingAdaptive ThinkingBetweenTools>",
  tool_choice: "<ChoiceAuto ChoiceAny ChoiceTool ChoiceNone>",
  tools: "[AnyTool]"
}

const requests: Readonly<Record<string, ModelShape>> = {
  MessagesRequest: {
    anthropic_version: "'vertex-2023-10-16'!",
    max_tokens: "integer(0..)!",
    ...counted,
    anthropic_beta: "[string]",
    container: "string|Container|null",
    diagnostics: "Diagnostics|null",
    inference_geo: "string|null",
    metadata: "Metadata",
    service_tier: "'auto'|'standard_only'",
    stop_sequences: "[string]",
    stream: "boolean",
    temperature: "number(0..1)",
    top_k: "integer(-1..)",
    top_p: "number(-1..1)",
    billing_policy: "~BillingPolicy|null",
    compaction: "~CompactionConfig|null",
    context_management: "~ContextManagement|null",
    fallback_credit_token: "~string|FallbackCredit|null",
    fallbacks: "~[FallbackTarget]|'default'|null",
    mcp_servers: "~[McpServer](..20)",
    output_format: "~JsonFormat|null",
    thread: "~<ThreadCreate ThreadContinue>|null"
  },
  CountRequest: { model: "string!", anthropic_version: "'vertex-2023-10-16'", ...counted },
  Message: { role: "'user'|'assistant'!", content: "string|[Block]!" },
  SystemMessage: {
    role: "'system'!",
    content: "string|[<TextBlock ~ToolAddition ~ToolRemoval>]!~",
    clear_at: "~'next_user_message'|'never'|null",
    output_config: "~SystemOutputConfig|null"
  },
  SystemOutputConfig: { effort: "Effort|null" },
  Metadata: { user_id: "string(..512)|null" },
  OutputConfig: { effort: "Effort|null", format: "JsonFormat|null", task_budget: "~TaskBudget|null" },
  JsonFormat: { type: "'json_schema'!", schema: "object!" },
  TaskBudget: { type: "'tokens'!", total: "integer(1024..)!", remaining: "integer(0..)|null" },
  ThinkingEnabled: block("enabled", {
    budget_tokens: "integer(1024..)!",
    display: "Display|null",
    block_binding: "~BlockBinding|null"
  }),
  ThinkingAdaptive: block("adaptive", { display: "Display|null", block_binding: "~BlockBinding|null" }),
  ThinkingDisabled: block("disabled", {}),
  ThinkingBetweenTools: block("between_tools", {}),
  BlockBinding: { prefix_mismatch_behavior: "'error'|'drop_block'|null" },
  ChoiceAuto: block("auto", { disable_parallel_tool_use: "boolean" }),
  ChoiceAny: block("any", { disable_parallel_tool_use: "boolean" }),
  ChoiceTool: block("tool", { name: "string!", disable_parallel_tool_use: "boolean" }),
  ChoiceNone: block("none", {}),
  Container: { id: "string|null", skills: "[Skill](..8)|null" },
  Skill: { skill_id: "string(1..64)!", type: "'anthropic'|'custom'!", version: "string(1..64)" },
  Diagnostics: { previous_message_id: "string|null" },
  BillingPolicy: block("billing_policy", { bill_to: "'self'|'user_profile'" }),
  CompactionConfig: block("summarize", { instructions: "string|null" }),
  ContextManagement: { edits: "[<ClearToolUses ClearThinking Compact>]" },
  ClearToolUses: block("clear_tool_uses_20250919", {
    clear_at_least: "InputTokensFrom0|null",
    clear_tool_inputs: "boolean|[string]|null",
    exclude_tools: "[string]|null",
    keep: "ToolUsesFrom0",
    trigger: "<InputTokens ToolUses>"
  }),
  ClearThinking: block("clear_thinking_20251015", { keep: "<ThinkingTurns AllTurns>|'all'" }),
  Compact: block("compact_20260112", {
    instructions: "string|null",
    pause_after_compaction: "boolean",
    trigger: "InputTokens|null"
  }),
  InputTokensFrom0: block("input_tokens", { value: "integer(0..)!" }),
  ToolUsesFrom0: block("tool_uses", { value: "integer(0..)!" }),
  InputTokens: block("input_tokens", { value: "integer(1..)!" }),
  ToolUses: block("tool_uses", { value: "integer(1..)!" }),
  ThinkingTurns: block("thinking_turns", { value: "integer(1..)!" }),
  AllTurns: block("all", {}),
  FallbackCredit: { token: "string!", mode: "'strict'|'best_effort'" },
  FallbackTarget: {
    model: "string!",
    max_tokens: "integer|null",
    output_config: "OutputConfig|null",
    speed: "'standard'|'fast'|null",
    thinking: "<ThinkingEnabled ThinkingDisabled ThinkingAdaptive ThinkingBetweenTools>|null"
  },
  McpServer: {
    type: "'url'!",
    name: "string!",
    url: "string!",
    authorization_token: "string|null",
    tool_configuration: "McpServerTools|null"
  },
  McpServerTools: { allowed_tools: "[string]|null", enabled: "boolean|null" },
  ThreadCreate: block("create", {}),
  ThreadContinue: block("continue", { previous_message_id: "string!" })
}

const shapes: ModelShapes = {
  models: { ...textBlocks, ...mediaBlocks, ...callBlocks, ...resultBlocks, ...betaBlocks, ...claudeTools, ...requests },
  aliases: {
    ...toolAliases,
    Citation: "<CharLocation PageLocation BlockLocation WebLocation SearchLocation>",
    Effort: "'low'|'medium'|'high'|'xhigh'|'max'",
    Display: "'summarized'|'omitted'|~'updates'",
    Block:
      "<TextBlock ImageBlock DocumentBlock SearchResultBlock ThinkingBlock RedactedBlock ToolUse ToolResult ServerToolUse WebSearchResults " +
      "WebFetchResult CodeResult BashResult EditorResult ToolSearchResult ContainerUpload ~AdvisorResult ~McpToolUse ~McpToolResult ~Compaction " +
      "~ToolAddition ~ToolRemoval ~McpListing ~Fallback>"
  },
  open: ["InputSchema", "FallbackTarget"]
}

/** Reads a body by `MessagesRequest` or `CountRequest`; without `betas` the fields of beta features are refused. */
export const readClaude = compileModels(shapes)
