// Methods and resources of Google's services that are refused by name, each with what to do instead.
// It must not know paths beyond their segments. Rules: N105-N108, N901, N902.

/** A refusal by name: 400 FAILED_PRECONDITION. The body of such a request is not read. */
export interface NotOffered {
  readonly _tag: "NotOffered"
  /** What was asked for, as Google names it. */
  readonly what: string
  readonly message: string
}

/** The refusal, or nothing known. */
type Refused = NotOffered | { readonly _tag: "Unknown" }

const refusal = (what: string, instead: string): NotOffered => ({
  _tag: "NotOffered",
  what,
  message: `${what} is not offered by this gateway: ${instead}.`
})

const storeOfProject = "it is a store of the operator's Google project, which every key here would share"
const files =
  "send the data as inlineData up to the body limit, name a gs:// object on Vertex AI, or upload with a key of your own at Google and call with that key"
const oneByOne = "send the requests one by one"

/** Collections by the name of their first segment; a verb may follow the name. */
const stores: Readonly<Record<string, NotOffered>> = {
  files: refusal("files", files),
  cachedContents: refusal("cachedContents", `${storeOfProject}; models cache prompts that repeat by themselves`),
  batches: refusal("batches", oneByOne),
  batchPredictionJobs: refusal("batchPredictionJobs", oneByOne),
  tunedModels: refusal("tunedModels", "deploy the model on Vertex AI and call it as endpoints/{id}"),
  tuningJobs: refusal("tuningJobs", "tune with a credential of your own at Google"),
  operations: refusal("operations", storeOfProject),
  corpora: refusal("corpora", storeOfProject),
  ragCorpora: refusal("ragCorpora", storeOfProject),
  ragStores: refusal("ragStores", storeOfProject),
  fileSearchStores: refusal("fileSearchStores", storeOfProject),
  auth_tokens: refusal("auth_tokens", "use a gateway key"),
  interactions: refusal("interactions", "use generateContent, or /v1/responses"),
  agents: refusal("agents", "use generateContent, or /v1/responses"),
  reasoningEngines: refusal("reasoningEngines", "use generateContent, or /v1/responses")
}

/** Verbs of N105. */
const verbs: Readonly<Record<string, string>> = {
  predictLongRunning: "videos are not made here",
  fetchPredictOperation: "videos are not made here",
  batchGenerateContent: oneByOne,
  asyncBatchEmbedContent: "use batchEmbedContents",
  generateAnswer: "use generateContent with googleSearch",
  serverStreamingPredict: "use predict",
  bidiGenerateContent: "use streamGenerateContent"
}

const live = refusal("Live (BidiGenerateContent)", "use streamGenerateContent")
const chat = "use /v1/chat/completions"

export const notOffered = {
  live,
  upload: refusal("upload", files),
  openApi: refusal("endpoints/openapi", `${chat} with the model "publisher/model"`),
  /** The models of a project are tuned ones. */
  projectModels: refusal("The list of a project's models", "deploy a model and call it as endpoints/{id}"),
  /** A collection by the segment it is named in, a verb after its name included. */
  store: (segment: string): NotOffered | undefined => {
    const name = segment.split(":")[0] ?? ""
    return Object.hasOwn(stores, name) ? stores[name] : undefined
  },
  notClaude: refusal("rawPredict of a model that is not Claude", "use generateContent of publishers/google"),
  publisher: (publisher: string): NotOffered =>
    refusal(`The publisher "${publisher.slice(0, 63)}"`, `${chat} with the model "publisher/model"`),
  /** A publisher's models lack the verb. */
  publisherVerb: (publisher: "google" | "anthropic", verb: string): NotOffered =>
    refusal(
      `${verb} of publishers/${publisher}`,
      publisher === "google"
        ? "use generateContent or streamGenerateContent"
        : "use rawPredict or streamRawPredict, /v1/messages or /v1/chat/completions"
    ),
  endpointVerb: (verb: string): Refused =>
    verb === "rawPredict" || verb === "streamRawPredict" || Object.hasOwn(verbs, verb)
      ? refusal(`${verb} of an endpoint`, "use generateContent, predict or /v1/chat/completions")
      : { _tag: "Unknown" },
  /** A verb that this form of the path lacks, or that is known and not served. */
  verb: (form: "google" | "vertex", verb: string): Refused => {
    const instead = Object.hasOwn(verbs, verb) ? verbs[verb] : elsewhere[form][verb]
    return instead === undefined ? { _tag: "Unknown" } : refusal(verb, instead)
  }
}

/** Verbs that only the other product has. */
const elsewhere: Readonly<Record<"google" | "vertex", Readonly<Record<string, string | undefined>>>> = {
  google: {
    computeTokens: "use countTokens",
    rawPredict: "Claude is reached below publishers/anthropic, or by /v1/messages",
    streamRawPredict: "Claude is reached below publishers/anthropic, or by /v1/messages"
  },
  vertex: { batchEmbedContents: "use predict or embedContent, or the path of the Gemini API" }
}
