// The log of unexpected failures of the service: stderr, one line each. Stdout holds request lines only.
// Must not know what failed. Removes secrets that a fault might quote.
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { publicText } from "../domain/text/publicText.ts"

const mostBytes = 8 * 1024

/** One line: JSON or human-readable. */
export const renderFaultLine = (date: Date, level: string, message: unknown, isJson: boolean): string => {
  const words = publicText((Array.isArray(message) ? message : [message]).map(String).join("  "), mostBytes)
  return isJson
    ? JSON.stringify({ ts: date.toISOString(), level: level.toLowerCase(), msg: words })
    : `${date.toISOString().slice(11, 19)}  ${level.toLowerCase()}  ${words}`
}

const layer = (isJson: boolean): Layer.Layer<never> =>
  Logger.layer([
    Logger.withConsoleError(
      Logger.make(({ date, logLevel, message }) => renderFaultLine(date, logLevel, message, isJson))
    )
  ])

export const FaultLog = { layer }
