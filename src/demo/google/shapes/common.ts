// Declares the messages and enum values that are identical on the Gemini Developer API and Vertex AI.
// It must not depend on which of the two serves a request.
// Source: the public API descriptions of both services.

import type { MessageShape } from "./shape.ts"

/** The OpenAPI subset of the Gemini Developer API; Vertex AI adds fields. */
export const schemaShape = {
  anyOf: "[Schema]",
  default: "any",
  description: "string",
  enum: "[string]",
  example: "any",
  format: "string",
  items: "Schema",
  maxItems: "int64",
  maxLength: "int64",
  maxProperties: "int64",
  maximum: "number",
  minItems: "int64",
  minLength: "int64",
  minProperties: "int64",
  minimum: "number",
  nullable: "bool",
  pattern: "string",
  properties: "{Schema}",
  propertyOrdering: "[string]",
  required: "[string]",
  title: "string",
  type: "SchemaType"
}

/** The settings of an embedding; the two services differ only in the enum value for an unset task. */
export const embedSettings = { taskType: "TaskType", title: "string", outputDimensionality: "int32" }

/** Messages that are the same on both services. */
export const commonMessages: Readonly<Record<string, MessageShape>> = {
  Content: { parts: "[Part]", role: "string" },
  VideoMetadata: { startOffset: "duration", endOffset: "duration", fps: "number" },
  MediaResolution: { level: "PartResolution" },
  ExecutableCode: { id: "string", language: "CodeLanguage!", code: "string!" },
  CodeExecutionResult: { id: "string", outcome: "Outcome!", output: "string" },
  FunctionDeclaration: {
    name: "string!",
    description: "string",
    behavior: "Behavior",
    parameters: "Schema",
    parametersJsonSchema: "any",
    response: "Schema",
    responseJsonSchema: "any"
  },
  GoogleSearchRetrieval: { dynamicRetrievalConfig: "DynamicRetrieval" },
  DynamicRetrieval: { mode: "DynamicMode", dynamicThreshold: "number" },
  SearchTypes: { webSearch: "Nothing", imageSearch: "Nothing" },
  Nothing: {},
  RetrievalConfig: { latLng: "LatLng", languageCode: "string" },
  LatLng: { latitude: "number", longitude: "number" },
  EmbedContentConfig: { ...embedSettings, autoTruncate: "bool", documentOcr: "bool", audioTrackExtraction: "bool" },
  ThinkingConfig: { includeThoughts: "bool", thinkingBudget: "int32", thinkingLevel: "ThinkingLevel" },
  SpeechConfig: { voiceConfig: "VoiceConfig", multiSpeakerVoiceConfig: "MultiSpeaker", languageCode: "string" },
  MultiSpeaker: { speakerVoiceConfigs: "[SpeakerVoice]!" },
  SpeakerVoice: { speaker: "string!", voiceConfig: "VoiceConfig!" },
  PrebuiltVoice: { voiceName: "string" },
  AudioTranscriptionConfig: {
    adaptationPhrases: "[string]",
    customVocabulary: "[string]",
    diarization: "bool",
    languageAuto: "Nothing",
    languageCodes: "[string]",
    languageHints: "LanguageHints",
    mode: "TranscriptionMode",
    wordTimestamp: "bool"
  },
  LanguageHints: { languageCodes: "[string]!" },
  AudioFormat: { mimeType: "AudioMime", delivery: "Delivery", sampleRate: "int32", bitRate: "int32" },
  ImageFormat: { mimeType: "ImageMime", delivery: "Delivery", aspectRatio: "AspectRatio", imageSize: "ImageSize" },
  TextFormat: { mimeType: "TextMime", schema: "any" }
}

const ratios =
  "ONE_BY_ONE TWO_BY_THREE THREE_BY_TWO THREE_BY_FOUR FOUR_BY_THREE FOUR_BY_FIVE FIVE_BY_FOUR NINE_BY_SIXTEEN " +
  "SIXTEEN_BY_NINE TWENTY_ONE_BY_NINE ONE_BY_EIGHT EIGHT_BY_ONE ONE_BY_FOUR FOUR_BY_ONE"

/** Prefixes each word, because Google's enum values repeat the name of their enum. */
export const prefixed = (prefix: string, words: string): string =>
  words
    .split(" ")
    .map((word) => prefix + word)
    .join(" ")

/** Enums that are the same on both services. */
export const commonEnums: Readonly<Record<string, string>> = {
  SchemaType: "TYPE_UNSPECIFIED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL",
  PartResolution: prefixed("MEDIA_RESOLUTION_", "UNSPECIFIED LOW MEDIUM HIGH ULTRA_HIGH"),
  MediaResolutionWord: prefixed("MEDIA_RESOLUTION_", "UNSPECIFIED LOW MEDIUM HIGH"),
  CodeLanguage: "LANGUAGE_UNSPECIFIED PYTHON",
  Outcome: prefixed("OUTCOME_", "UNSPECIFIED OK FAILED DEADLINE_EXCEEDED"),
  Scheduling: "SCHEDULING_UNSPECIFIED SILENT WHEN_IDLE INTERRUPT",
  Behavior: "UNSPECIFIED BLOCKING NON_BLOCKING",
  CallingMode: "MODE_UNSPECIFIED AUTO ANY NONE VALIDATED",
  DynamicMode: "MODE_UNSPECIFIED MODE_DYNAMIC",
  Environment: prefixed("ENVIRONMENT_", "UNSPECIFIED BROWSER MOBILE DESKTOP"),
  ThinkingLevel: "THINKING_LEVEL_UNSPECIFIED MINIMAL LOW MEDIUM HIGH XHIGH",
  Modality: "MODALITY_UNSPECIFIED TEXT IMAGE AUDIO VIDEO",
  Threshold:
    "HARM_BLOCK_THRESHOLD_UNSPECIFIED BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_ONLY_HIGH BLOCK_NONE OFF",
  TranscriptionMode: "MODE_UNSPECIFIED VERBATIM SMART",
  Delivery: prefixed("DELIVERY_", "UNSPECIFIED INLINE URI"),
  AudioMime: "MIME_TYPE_UNSPECIFIED AUDIO_MP3 AUDIO_OGG_OPUS AUDIO_L16 AUDIO_WAV AUDIO_ALAW AUDIO_MULAW",
  ImageMime: "MIME_TYPE_UNSPECIFIED IMAGE_JPEG",
  TextMime: "MIME_TYPE_UNSPECIFIED APPLICATION_JSON TEXT_PLAIN",
  AspectRatio: prefixed("ASPECT_RATIO_", `UNSPECIFIED ${ratios}`),
  ImageSize: prefixed("IMAGE_SIZE_", "UNSPECIFIED FIVE_TWELVE ONE_K TWO_K FOUR_K")
}

/** The settings of an answer with the same spelling on both services. */
export const commonGenerationConfig = {
  audioTranscriptionConfig: "AudioTranscriptionConfig",
  candidateCount: "int32",
  enableAffectiveDialog: "bool",
  frequencyPenalty: "number",
  imageConfig: "ImageConfig",
  logprobs: "int32",
  maxOutputTokens: "int32",
  mediaResolution: "MediaResolutionWord",
  presencePenalty: "number",
  responseJsonSchema: "any",
  responseLogprobs: "bool",
  responseMimeType: "string",
  responseModalities: "[Modality]",
  responseSchema: "Schema",
  seed: "int32",
  speechConfig: "SpeechConfig",
  stopSequences: "[string]",
  temperature: "number",
  thinkingConfig: "ThinkingConfig",
  topP: "number"
}

/** Top-level fields of a generateContent body on both services. */
export const commonRequest = {
  contents: "[Content]!",
  systemInstruction: "Content",
  tools: "[Tool]",
  toolConfig: "ToolConfig",
  safetySettings: "[SafetySetting]",
  generationConfig: "GenerationConfig",
  cachedContent: "string"
}

/** The enum values of a task type, without the unset one. */
export const taskTypes =
  "RETRIEVAL_QUERY RETRIEVAL_DOCUMENT SEMANTIC_SIMILARITY CLASSIFICATION CLUSTERING QUESTION_ANSWERING " +
  "FACT_VERIFICATION CODE_RETRIEVAL_QUERY"

/** The outer shape of predict; each model reads instances and parameters differently. */
export const predictRequest = { instances: "[any]!", parameters: "any" }

/** Fields of a Part on both services. */
export const commonPart = {
  "oneof data": {
    text: "string",
    inlineData: "Blob",
    fileData: "FileData",
    functionCall: "FunctionCall",
    functionResponse: "FunctionResponse",
    executableCode: "ExecutableCode",
    codeExecutionResult: "CodeExecutionResult"
  },
  thought: "bool",
  thoughtSignature: "bytes",
  videoMetadata: "VideoMetadata",
  mediaResolution: "MediaResolution"
}
