// Declares the request messages of Gemini on Vertex AI: v1, and the additions of v1beta1; unknown fields are refused.
// It must not depend on the Gemini Developer API or the gateway's schemas.
// Source: the public description of aiplatform.
import { compileShapes, type MessageShape, type Shapes } from "./shape.ts"
import {
  commonEnums,
  commonGenerationConfig,
  commonMessages,
  commonPart,
  commonRequest,
  embedSettings,
  predictRequest,
  prefixed,
  schemaShape,
  taskTypes
} from "./common.ts"

/** Messages below `Tool.retrieval`, v1. */
const retrievalMessages: Readonly<Record<string, MessageShape>> = {
  Retrieval: {
    "oneof source": { vertexAiSearch: "VertexAiSearch", vertexRagStore: "VertexRagStore" },
    externalApi: "ExternalApi",
    disableAttribution: "bool"
  },
  VertexAiSearch: {
    datastore: "string",
    engine: "string",
    filter: "string",
    maxResults: "int32",
    dataStoreSpecs: "[DataStoreSpec]"
  },
  DataStoreSpec: { dataStore: "string", filter: "string" },
  VertexRagStore: {
    ragResources: "[RagResource]",
    ragRetrievalConfig: "RagRetrieval",
    similarityTopK: "int32",
    vectorDistanceThreshold: "number"
  },
  RagResource: { ragCorpus: "string", ragFileIds: "[string]" },
  RagRetrieval: { topK: "int32", filter: "RagFilter", ranking: "RagRanking" },
  RagFilter: {
    "oneof vector_db_threshold": { vectorDistanceThreshold: "number", vectorSimilarityThreshold: "number" },
    metadataFilter: "string"
  },
  RagRanking: { "oneof ranking_config": { rankService: "NamedRanker", llmRanker: "NamedRanker" } },
  NamedRanker: { modelName: "string" },
  ExternalApi: {
    apiSpec: "ApiSpec",
    endpoint: "string",
    apiAuth: "ApiAuth",
    authConfig: "AuthConfig",
    simpleSearchParams: "Nothing",
    elasticSearchParams: "ElasticSearch"
  },
  ElasticSearch: { index: "string", searchTemplate: "string", numHits: "int32" },
  ApiAuth: { apiKeyConfig: "ApiAuthKey" },
  ApiAuthKey: { apiKeySecretVersion: "string!", apiKeyString: "string" },
  AuthConfig: {
    authType: "AuthType",
    apiKeyConfig: "AuthKey",
    httpBasicAuthConfig: "AuthBasic",
    googleServiceAccountConfig: "AuthAccount",
    oauthConfig: "AuthOauth",
    oidcConfig: "AuthOidc"
  },
  AuthKey: { name: "string", apiKeySecret: "string", apiKeyString: "string", httpElementLocation: "HttpElement" },
  AuthBasic: { credentialSecret: "string!" },
  AuthAccount: { serviceAccount: "string" },
  AuthOauth: { accessToken: "string", serviceAccount: "string" },
  AuthOidc: { idToken: "string", serviceAccount: "string" }
}

/** The messages that differ in v1beta1. */
const retrievalMessagesBeta: Readonly<Record<string, MessageShape>> = {
  VertexRagStore: { ...retrievalMessages["VertexRagStore"], ragCorpora: "[string]", storeContext: "bool" },
  RagRetrieval: { ...retrievalMessages["RagRetrieval"], hybridSearch: "HybridSearch" },
  HybridSearch: { alpha: "number" },
  AuthConfig: {
    authType: "AuthType",
    "oneof auth_config": {
      apiKeyConfig: "AuthKey",
      httpBasicAuthConfig: "AuthBasic",
      googleServiceAccountConfig: "AuthAccount",
      oauthConfig: "AuthOauth",
      oidcConfig: "AuthOidc"
    }
  },
  AuthOauth: { "oneof auth": { accessToken: "string", serviceAccount: "string" } },
  AuthOidc: { "oneof auth": { idToken: "string", serviceAccount: "string" } }
}

/** Enums of the retrieval tool. */
const retrievalEnums: Readonly<Record<string, string>> = {
  ApiSpec: "API_SPEC_UNSPECIFIED SIMPLE_SEARCH ELASTIC_SEARCH",
  AuthType: "AUTH_TYPE_UNSPECIFIED NO_AUTH API_KEY_AUTH HTTP_BASIC_AUTH GOOGLE_SERVICE_ACCOUNT_AUTH OAUTH OIDC_AUTH",
  HttpElement: "HTTP_IN_UNSPECIFIED HTTP_IN_QUERY HTTP_IN_HEADER HTTP_IN_PATH HTTP_IN_BODY HTTP_IN_COOKIE"
}

const generationConfig = {
  ...commonGenerationConfig,
  topK: "number",
  audioTimestamp: "bool",
  responseFormat: "[ResponseFormat]",
  routingConfig: "RoutingConfig"
}

const messages: Readonly<Record<string, MessageShape>> = {
  ...commonMessages,
  ...retrievalMessages,
  GenerateContentRequest: { ...commonRequest, labels: "{string}", modelArmorConfig: "ModelArmorConfig" },
  PredictRequest: { ...predictRequest, labels: "{string}" },
  EmbedContentRequest: {
    content: "Content!",
    embedContentConfig: "EmbedContentConfig",
    ...embedSettings,
    autoTruncate: "bool"
  },
  CountTokensRequest: {
    contents: "[Content]",
    systemInstruction: "Content",
    tools: "[Tool]",
    generationConfig: "GenerationConfig",
    instances: "[any]",
    model: "string"
  },
  ModelArmorConfig: { promptTemplateName: "string", responseTemplateName: "string" },
  Schema: { ...schemaShape, additionalProperties: "any", defs: "{Schema}", ref: "string" },
  Part: { ...commonPart, audioTranscription: "AudioTranscription" },
  AudioTranscription: { text: "string!", speakerLabel: "string", words: "[TranscribedWord]" },
  TranscribedWord: { word: "string!", startOffset: "duration", endOffset: "duration" },
  Blob: { mimeType: "string!", data: "bytes!", displayName: "string" },
  FileData: { mimeType: "string!", fileUri: "string!", displayName: "string" },
  FunctionCall: { id: "string", name: "string", args: "struct", partialArgs: "[PartialArg]", willContinue: "bool" },
  PartialArg: {
    jsonPath: "string!",
    "oneof delta": { nullValue: "NullValue", numberValue: "number", stringValue: "string", boolValue: "bool" },
    willContinue: "bool"
  },
  FunctionResponse: {
    id: "string",
    name: "string!",
    response: "struct!",
    parts: "[FunctionResponsePart]",
    scheduling: "Scheduling"
  },
  FunctionResponsePart: { "oneof data": { inlineData: "Blob", fileData: "FileData" } },
  Tool: {
    "oneof tool_type": {
      functionDeclarations: "[FunctionDeclaration]",
      googleSearch: "GoogleSearch",
      googleSearchRetrieval: "GoogleSearchRetrieval",
      enterpriseWebSearch: "EnterpriseWebSearch",
      codeExecution: "Nothing",
      urlContext: "Nothing",
      computerUse: "ComputerUse",
      googleMaps: "GoogleMaps",
      retrieval: "Retrieval",
      parallelAiSearch: "ParallelAiSearch",
      exaAiSearch: "ExaAiSearch"
    }
  },
  GoogleSearch: { excludeDomains: "[string]", blockingConfidence: "PhishThreshold", searchTypes: "SearchTypes" },
  EnterpriseWebSearch: { excludeDomains: "[string]", blockingConfidence: "PhishThreshold" },
  ParallelAiSearch: {
    apiKey: "string",
    customConfigs: "struct",
    enableDataRetention: "bool",
    enableZeroDataRetention: "bool"
  },
  ExaAiSearch: { apiKey: "string!", customConfigs: "struct" },
  GoogleMaps: { enableWidget: "bool", groundingTypes: "MapsGrounding" },
  MapsGrounding: { places: "Nothing", routing: "Nothing" },
  ComputerUse: {
    environment: "Environment!",
    excludedPredefinedFunctions: "[string]",
    enablePromptInjectionDetection: "bool"
  },
  ToolConfig: { functionCallingConfig: "CallingConfig", retrievalConfig: "RetrievalConfig" },
  CallingConfig: { mode: "CallingMode", allowedFunctionNames: "[string]", streamFunctionCallArguments: "bool" },
  SafetySetting: { category: "HarmCategory!", threshold: "Threshold!", method: "HarmMethod" },
  GenerationConfig: generationConfig,
  ResponseFormat: { text: "TextFormat", image: "ImageFormat", audio: "AudioFormat", video: "VideoFormat" },
  VideoFormat: {
    delivery: "Delivery",
    duration: "duration",
    gcsUri: "string",
    resolution: "string",
    aspectRatio: "VideoRatio"
  },
  RoutingConfig: { "oneof routing_config": { autoMode: "AutoRouting", manualMode: "ManualRouting" } },
  AutoRouting: { modelRoutingPreference: "RoutingPreference" },
  ManualRouting: { modelName: "string" },
  ImageConfig: {
    aspectRatio: "string",
    imageSize: "string",
    imageOutputOptions: "ImageOutput",
    personGeneration: "PersonGeneration",
    prominentPeople: "ProminentPeople"
  },
  ImageOutput: { mimeType: "string", compressionQuality: "int32" },
  VoiceConfig: {
    "oneof voice_config": { prebuiltVoiceConfig: "PrebuiltVoice", replicatedVoiceConfig: "ReplicatedVoice" }
  },
  ReplicatedVoice: { mimeType: "string", voiceSampleAudio: "bytes" }
}

const enums: Readonly<Record<string, string>> = {
  ...commonEnums,
  ...retrievalEnums,
  TaskType: `UNSPECIFIED ${taskTypes}`,
  NullValue: "NULL_VALUE",
  PhishThreshold:
    "PHISH_BLOCK_THRESHOLD_UNSPECIFIED BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_HIGH_AND_ABOVE " +
    "BLOCK_HIGHER_AND_ABOVE BLOCK_VERY_HIGH_AND_ABOVE BLOCK_ONLY_EXTREMELY_HIGH",
  HarmMethod: "HARM_BLOCK_METHOD_UNSPECIFIED SEVERITY PROBABILITY",
  HarmCategory: prefixed(
    "HARM_CATEGORY_",
    "UNSPECIFIED HATE_SPEECH DANGEROUS_CONTENT HARASSMENT SEXUALLY_EXPLICIT CIVIC_INTEGRITY IMAGE_HATE IMAGE_DANGEROUS_CONTENT " +
      "IMAGE_HARASSMENT IMAGE_SEXUALLY_EXPLICIT JAILBREAK"
  ),
  VideoRatio: prefixed("ASPECT_RATIO_", "UNSPECIFIED SIXTEEN_BY_NINE NINE_BY_SIXTEEN"),
  RoutingPreference: "UNKNOWN PRIORITIZE_QUALITY BALANCED PRIORITIZE_COST",
  FeaturePreference: "FEATURE_SELECTION_PREFERENCE_UNSPECIFIED PRIORITIZE_QUALITY BALANCED PRIORITIZE_COST",
  PersonGeneration: "PERSON_GENERATION_UNSPECIFIED ALLOW_ALL ALLOW_ADULT ALLOW_NONE",
  ProminentPeople: "PROMINENT_PEOPLE_UNSPECIFIED ALLOW_PROMINENT_PEOPLE BLOCK_PROMINENT_PEOPLE"
}

const v1: Shapes = { notEmpty: ["Part"], messages, enums }

const v1beta1: Shapes = {
  ...v1,
  messages: {
    ...messages,
    ...retrievalMessagesBeta,
    GenerationConfig: { ...generationConfig, modelConfig: "ModelConfig" },
    ModelConfig: { featureSelectionPreference: "FeaturePreference!" }
  }
}

/** Reads a request body of Vertex AI v1; its entries are the messages whose names end in `Request`. */
export const readVertex = compileShapes(v1)

/** The same for v1beta1. */
export const readVertexBeta = compileShapes(v1beta1)
