// Reads id, time, model and unknown fields of an OpenAI-compatible completion or chunk, and fills in missing ones.
// Must not depend on choices or usage.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { UpstreamChat } from "../../wire/openai/UpstreamChat.ts"
import type { TranslateContext } from "../Translator.ts"
import { fieldNames, unreadFields } from "./rest.ts"

/** Equal on every chunk of a stream. */
export interface Identity {
  readonly id: string
  readonly created: number
  readonly model: string
}

export const readIdentity = (given: UpstreamChat, context: TranslateContext): Identity => {
  const { id, created, model } = given
  return {
    id: typeof id === "string" && id !== "" ? id : context.id,
    created:
      typeof created === "number" && Number.isSafeInteger(created) && created > 0 ? created : context.createdSeconds,
    model: typeof model === "string" && model !== "" ? model : context.target.modelId
  }
}

const topFields = fieldNames("id", "object", "created", "model", "choices", "usage", "error", "provider")

/** Unread fields. A field that OpenAI publishes is kept only with the type OpenAI publishes. */
export const envelopeRest = (given: UpstreamChat): JsonObject | undefined => {
  const rest = unreadFields(given, topFields)
  if (rest === undefined) return undefined
  for (const name in rest) if (published.get(name)?.(rest[name]) === false) return wellFormed(rest)
  return rest
}

const isString = (value: Json | undefined): boolean => typeof value === "string"

const published: ReadonlyMap<string, (value: Json | undefined) => boolean> = new Map([
  ["service_tier", isString],
  ["system_fingerprint", isString],
  ["obfuscation", isString],
  ["metadata", (value) => isJsonObject(value) && Object.values(value).every(isString)],
  ["moderation", (value) => isJsonObject(value) && isJsonObject(value["input"]) && isJsonObject(value["output"])]
])

const wellFormed = (rest: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(rest).filter(([name, value]) => published.get(name)?.(value) !== false))
