// Inputs of the messages-to-chat pair other than the body, and what the answer's translation needs of the request's.
// It must not know the clock, stores or keys: values and pure functions only.
import type { CarrierSealing } from "../../domain/RequestContext.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Adjustment, TranslateContext } from "../Translator.ts"
import type { ChatPaths } from "./paths.ts"

export interface RequestFacts {
  /** The family that serves the chat. */
  readonly family: TranslateContext["target"]["family"]
  /** Most tokens of the model's answers; undefined where it is not known. */
  readonly maxOutput: number | undefined
  readonly unseal: CarrierSealing["unseal"]
  readonly digest: CarrierSealing["digest"]
}

/** What of the model's thinking a client gets. */
export interface Shown {
  /** The request asks for thinking: each run of thoughts is a block with a carrier. */
  readonly thinking: boolean
  /** The texts of thoughts are shown. */
  readonly texts: boolean
}

export interface Plan {
  readonly paths: ChatPaths
  readonly shown: Shown
  /** Stop sequences of the request. */
  readonly stops: ReadonlyArray<string>
  /** Ids of the calls of the history: an answer repeats none of them. */
  readonly taken: ReadonlySet<string>
}

export interface MessagesChat {
  readonly chat: ChatRequest
  /** Fields of the request that have no place in the chat, in the client's words. */
  readonly ignored: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<Adjustment>
  readonly plan: Plan
}

export interface AnswerFacts {
  /** `msg_` and 32 hex digits. */
  readonly id: string
  readonly plan: Pick<Plan, "shown" | "stops" | "taken">
  /** The backend that answers, `family/kind`. */
  readonly issuer: string
  /** The estimate of the prompt, for the first event. */
  readonly inputTokens: number
  readonly seal: CarrierSealing["seal"]
  readonly digest: CarrierSealing["digest"]
  /** The longest sealed text that is given to a client. */
  readonly carrierBytes: number
}
