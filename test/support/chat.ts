// Small builders for tests of the chat translators: a context for a model, readable call ids, frozen input.
// Must not depend on a translator.
import { defaultLimits } from "../../src/domain/Limits.ts"
import { normaliseModelId } from "../../src/domain/models/modelName.ts"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import { modelFacts } from "../../src/translate/shared/gemini.ts"
import type { FetchedMedia, KnownSignature, TranslateContext } from "../../src/translate/Translator.ts"
import type { BuiltInKind } from "../../src/domain/ProviderAccount.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"

/** Of the form the gateway gives, with n readable at the end. */
export const callId = (n: number): string => `call-00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

export interface ContextOptions {
  readonly kind?: BuiltInKind
  /** The dialect of the host; Gemini's by default. */
  readonly family?: TranslateContext["target"]["family"]
  readonly strict?: boolean
  /** What the signature memory knows, by call id. */
  readonly known?: Readonly<Record<string, KnownSignature>>
  /** The id is the number of a tuned endpoint. */
  readonly tuned?: boolean
  readonly betas?: ReadonlyArray<string>
  /** What was fetched, by address. */
  readonly fetched?: Readonly<Record<string, FetchedMedia>>
}

/** A context as the router builds it, with fixed id and time; not strict by default. */
export const chatContext = (model = "gemini-2.5-flash", options: ContextOptions = {}): TranslateContext => {
  const kind = options.kind ?? "google"
  const family = options.family ?? "gemini"
  const modelId = normaliseModelId(model)
  const { record } = builtInModels.find(modelId)
  return {
    id: "chatcmpl-00000000-0000-4000-8000-000000000000",
    createdSeconds: 1_700_000_000,
    model,
    target: {
      kind,
      family,
      modelId,
      record,
      facts: modelFacts(record, { tuned: options.tuned ?? false }),
      issuer: `${family}/${kind}`
    },
    strict: options.strict ?? false,
    betas: options.betas ?? [],
    schemaCopyBytes: defaultLimits.schemaCopyBytes,
    callId,
    signature: (id) =>
      options.known !== undefined && Object.hasOwn(options.known, id) ? options.known[id] : undefined,
    media: (url) => options.fetched?.[url]
  }
}

/** A request of these messages, deeply frozen. */
export const chatRequest = (
  messages: ChatRequest["messages"],
  rest: Omit<Partial<ChatRequest>, "messages"> = {}
): ChatRequest => deepFreeze({ model: "gemini-2.5-flash", ...rest, messages })

/** Freezes a value all the way down and gives it back: writing to it throws. */
export const deepFreeze = <A>(value: A): A => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
