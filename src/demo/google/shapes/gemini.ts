// Declares the request messages of the Gemini Developer API (v1beta); unknown fields are refused, as on the service.
// It must not depend on Vertex AI or the gateway's schemas.
// Source: the public description of generativelanguage v1beta.

import {
  commonEnums,
  commonGenerationConfig,
  commonMessages,
  commonPart,
  commonRequest,
  embedSettings
} from "./common.ts"
import { predictRequest, prefixed, schemaShape, taskTypes } from "./common.ts"
import { compileShapes } from "./shape.ts"
import type { Shapes } from "./shape.ts"

const requestFields = { ...commonRequest, serviceTier: "ServiceTier", store: "bool" }
const embedFields = { content: "Content!", embedContentConfig: "EmbedContentConfig", ...embedSettings }

const shapes: Shapes = {
  notEmpty: ["Part"],
  messages: {
    ...commonMessages,
    GenerateContentRequest: { ...requestFields, model: "string" },
    CountTokensRequest: { contents: "[Content]", generateContentRequest: "CountedRequest" },
    CountedRequest: { ...requestFields, model: "string!" },
    PredictRequest: { ...predictRequest, model: "string" },
    EmbedContentRequest: { ...embedFields, model: "string" },
    BatchEmbedContentsRequest: { requests: "[BatchedRequest]!" },
    BatchedRequest: { ...embedFields, model: "string!" },
    Schema: schemaShape,
    Part: {
      ...commonPart,
      mediaProcessing: "MediaProcessing",
      partMetadata: "struct",
      toolCall: "ToolCall",
      toolResponse: "ToolResponse"
    },
    Blob: { mimeType: "string", data: "bytes" },
    FileData: { mimeType: "string", fileUri: "string!" },
    FunctionCall: { id: "string", name: "string!", args: "struct" },
    FunctionResponse: {
      id: "string",
      name: "string!",
      response: "struct!",
      parts: "[FunctionResponsePart]",
      scheduling: "Scheduling",
      willContinue: "bool"
    },
    FunctionResponsePart: { inlineData: "Blob" },
    ToolCall: { id: "string", toolType: "ServerTool!", toolName: "string", args: "struct" },
    ToolResponse: { id: "string", toolType: "ServerTool!", response: "struct" },
    Tool: {
      functionDeclarations: "[FunctionDeclaration]",
      googleSearch: "GoogleSearch",
      googleSearchRetrieval: "GoogleSearchRetrieval",
      codeExecution: "Nothing",
      urlContext: "Nothing",
      computerUse: "ComputerUse",
      fileSearch: "FileSearch",
      googleMaps: "GoogleMaps",
      mcpServers: "[McpServer]"
    },
    GoogleSearch: { timeRangeFilter: "Interval", searchTypes: "SearchTypes" },
    Interval: { startTime: "timestamp", endTime: "timestamp" },
    GoogleMaps: { enableWidget: "bool" },
    FileSearch: { fileSearchStoreNames: "[string]!", metadataFilter: "string", topK: "int32" },
    ComputerUse: {
      environment: "Environment!",
      excludedPredefinedFunctions: "[string]",
      enablePromptInjectionDetection: "bool",
      disabledSafetyPolicies: "[SafetyPolicy]"
    },
    McpServer: { name: "string", streamableHttpTransport: "McpTransport" },
    McpTransport: {
      url: "string",
      headers: "{string}",
      timeout: "duration",
      sseReadTimeout: "duration",
      terminateOnClose: "bool"
    },
    ToolConfig: {
      functionCallingConfig: "CallingConfig",
      retrievalConfig: "RetrievalConfig",
      includeServerSideToolInvocations: "bool"
    },
    CallingConfig: { mode: "CallingMode", allowedFunctionNames: "[string]" },
    SafetySetting: { category: "HarmCategory!", threshold: "Threshold!" },
    GenerationConfig: {
      ...commonGenerationConfig,
      topK: "int32",
      enableEnhancedCivicAnswers: "bool",
      responseFormat: "ResponseFormat",
      translationConfig: "TranslationConfig"
    },
    ResponseFormat: { text: "TextFormat", image: "ImageFormat", audio: "AudioFormat" },
    ImageConfig: { aspectRatio: "string", imageSize: "string" },
    TranslationConfig: { targetLanguageCode: "string!", echoTargetLanguage: "bool" },
    VoiceConfig: { prebuiltVoiceConfig: "PrebuiltVoice" }
  },
  enums: {
    ...commonEnums,
    MediaProcessing: "MEDIA_PROCESSING_UNSPECIFIED STATIC AGENTIC",
    ServerTool: "TOOL_TYPE_UNSPECIFIED GOOGLE_SEARCH_WEB GOOGLE_SEARCH_IMAGE URL_CONTEXT GOOGLE_MAPS FILE_SEARCH",
    TaskType: `TASK_TYPE_UNSPECIFIED ${taskTypes}`,
    ServiceTier: "unspecified standard flex priority",
    SafetyPolicy:
      "SAFETY_POLICY_UNSPECIFIED FINANCIAL_TRANSACTIONS SENSITIVE_DATA_MODIFICATION COMMUNICATION_TOOL ACCOUNT_CREATION " +
      "DATA_MODIFICATION USER_CONSENT_MANAGEMENT LEGAL_TERMS_AND_AGREEMENTS",
    HarmCategory: prefixed(
      "HARM_CATEGORY_",
      "UNSPECIFIED DEROGATORY TOXICITY VIOLENCE SEXUAL MEDICAL DANGEROUS HARASSMENT HATE_SPEECH SEXUALLY_EXPLICIT " +
        "DANGEROUS_CONTENT CIVIC_INTEGRITY JAILBREAK"
    )
  }
}

/** Reads a request body of the Gemini Developer API; its entries are the messages whose names end in `Request`. */
export const readGemini = compileShapes(shapes)
