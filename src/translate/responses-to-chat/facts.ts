// Inputs of the responses-to-chat pair other than the body, and what the answer's translation needs of the request's.
// It must not know the clock, stores or keys: values and pure functions only.
import type { JsonObject } from "../../domain/text/json.ts"
import type { ChatMessage, ChatRequest } from "../../wire/openai/Chat.ts"
import type { ResponseEcho } from "../../wire/openai/responses/Response.ts"
import type { Carrier } from "../shared/carrier/carrier.ts"
import type { ItemPaths } from "./request/paths.ts"

/** A turn of a stored conversation: what led to its response, what that answered, and what its items carry. */
export interface StoredTurn {
  readonly input: ReadonlyArray<JsonObject>
  readonly output: ReadonlyArray<JsonObject>
  readonly carrier: Carrier | undefined
}

/** An item that is meant by its id. */
export interface StoredItem {
  readonly item: JsonObject
  readonly carrier: Carrier | undefined
}

/** A prompt of the gateway, rendered. */
export interface RenderedPrompt {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly parameters: JsonObject
  readonly model: string | undefined
}

export interface RequestFacts {
  /** `resp_` and 32 hex digits. */
  readonly id: string
  /** The chain that `previous_response_id` names, the oldest turn first. */
  readonly history: ReadonlyArray<StoredTurn>
  readonly stored: (itemId: string) => StoredItem | undefined
  readonly prompt: RenderedPrompt | undefined
  /** Opens what was sealed for this gateway key; undefined for anything else. */
  readonly unseal: (sealed: string) => string | undefined
  /** The first 32 hex digits of the SHA-256 of a text. */
  readonly digest: (text: string) => string
  /** Whether the operator keeps responses at all. */
  readonly keeps: boolean
  /** Whether the request refuses whatever would be ignored. */
  readonly rejects: boolean
}

/** The name a client gave a tool, where the chat has another form of it. */
export interface ToolName {
  readonly name: string
  readonly namespace: string | undefined
  readonly isCustom: boolean
}

/** What of an answer is shown. */
export interface Shown {
  readonly summaries: boolean
  readonly carriers: boolean
  readonly logprobs: boolean
  readonly sources: boolean
  readonly outputs: boolean
}

export interface Plan {
  readonly echo: ResponseEcho
  readonly shown: Shown
  /** By the name in the chat; those of plain functions are absent. */
  readonly names: ReadonlyMap<string, ToolName>
  /** The places of the chat's parts in the request. */
  readonly paths: ItemPaths
  /** Whether the response is to be kept. */
  readonly keep: boolean
  /** This turn's own input, references resolved, each item with an id. */
  readonly input: ReadonlyArray<JsonObject>
}

export interface ResponsesChat {
  readonly chat: ChatRequest
  /** Fields of the request that have no place in the chat, in the client's words. */
  readonly ignored: ReadonlyArray<string>
  readonly plan: Plan
}

export interface AnswerFacts {
  readonly id: string
  readonly createdSeconds: number
  readonly plan: Plan
  /** The backend that answers, `family/kind`. */
  readonly issuer: string
  readonly seal: (text: string) => string
  readonly digest: (text: string) => string
  /** The longest sealed text that is given to a client. */
  readonly carrierBytes: number
}
