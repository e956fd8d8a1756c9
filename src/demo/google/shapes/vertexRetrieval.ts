// Declares the retrieval tool of Vertex AI (search, RAG, external APIs), which few callers use.
// Must not depend on the rest of the request.
// Source: the public description of aiplatform.

import type { MessageShape } from "./shape.ts"

/** Messages below `Tool.retrieval`, v1. */
export const retrievalMessages: Readonly<Record<string, MessageShape>> = {
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
export const retrievalMessagesBeta: Readonly<Record<string, MessageShape>> = {
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
export const retrievalEnums: Readonly<Record<string, string>> = {
  ApiSpec: "API_SPEC_UNSPECIFIED SIMPLE_SEARCH ELASTIC_SEARCH",
  AuthType: "AUTH_TYPE_UNSPECIFIED NO_AUTH API_KEY_AUTH HTTP_BASIC_AUTH GOOGLE_SERVICE_ACCOUNT_AUTH OAUTH OIDC_AUTH",
  HttpElement: "HTTP_IN_UNSPECIFIED HTTP_IN_QUERY HTTP_IN_HEADER HTTP_IN_PATH HTTP_IN_BODY HTTP_IN_COOKIE"
}
