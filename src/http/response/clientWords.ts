// Names of parameters in the words of the client's own body, where the body that runs was made of it.
// It must not depend on how a body was made.
import { settingHint } from "../../api/clientSettings.ts"
import type { ErrorFacts } from "../../api/errorFacts.ts"
import type { Operation } from "../../domain/operations.ts"
import type { ServedBy } from "../../domain/RequestContext.ts"
import type { Explained } from "../../router/ProviderRouter.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"

type WordOf = IncomingRequest["wordOf"]

/** What heals a body of Claude names the fields of the chat that most of these bodies are made of. */
const anthropicWords: ReadonlyMap<string, string> = new Map([
  ["reasoning_effort", "output_config.effort"],
  ["response_format", "output_config.format"]
])
const anthropicWord = (param: string): string => anthropicWords.get(param) ?? param

/** Undefined where the client has the words of the body that runs. */
export const clientWords = (operation: Operation, { wordOf }: Pick<IncomingRequest, "wordOf">): WordOf =>
  wordOf ?? (operation === "messages" || operation === "messagesCountTokens" ? anthropicWord : undefined)

/** What was ignored and adjusted, by the client's names. */
export const servedInClientsWords = (served: ServedBy, wordOf: WordOf): ServedBy =>
  wordOf === undefined || (served.ignored.length === 0 && served.adjusted === undefined)
    ? served
    : {
        ...served,
        ignored: served.ignored.map(wordOf),
        adjusted: served.adjusted?.map((adjustment) => ({ ...adjustment, param: wordOf(adjustment.param) }))
      }

export const explainedInClientsWords = (shown: Explained, wordOf: WordOf): Explained =>
  wordOf === undefined
    ? shown
    : {
        ...shown,
        ignored_params: shown.ignored_params.map(wordOf),
        adjusted_params: shown.adjusted_params.map((text) => text.replace(/^[^=]+/, wordOf))
      }

/** A name by itself, with or without quotes. */
const inMessage = (message: string, param: string, word: string): string =>
  message.replace(new RegExp(`(?<![\\w.])${param}(?![\\w[]|\\.\\w)`, "g"), () => word)

const plainName = /^[a-z_]{1,64}$/

/** A fault with its parameter as the client wrote it, in the message too, and with the client's own setting for it. */
export const inClientsWords = (
  facts: ErrorFacts,
  { headers, wordOf }: Pick<IncomingRequest, "headers" | "wordOf">
): ErrorFacts => {
  const hint = settingHint(facts.code, headers["user-agent"])
  const { message, param, ...rest } = facts
  const word = wordOf === undefined || param === null ? param : wordOf(param)
  if (word === param && hint === "") return facts
  const worded = word === null || param === null || !plainName.test(param) ? message : inMessage(message, param, word)
  return { ...rest, param: word, message: worded + hint }
}
