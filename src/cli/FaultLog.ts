// What the service says when it fails unexpectedly: on stderr, one line each, so that stdout holds lines of requests alone.
// It must not know what failed. Secrets that a fault might quote are taken out.
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { publicText } from "../domain/text/publicText.ts"

const mostBytes = 8 * 1024

/** One line of JSON, or one to read. */
export const faultLine = (date: Date, level: string, message: unknown, isJson: boolean): string => {
  const words = publicText((Array.isArray(message) ? message : [message]).map(String).join("  "), mostBytes)
  return isJson
    ? JSON.stringify({ ts: date.toISOString(), level: level.toLowerCase(), msg: words })
    : `${date.toISOString().slice(11, 19)}  ${level.toLowerCase()}  ${words}`
}

const layer = (isJson: boolean): Layer.Layer<never> =>
  Logger.layer([
    Logger.make(({ date, logLevel, message }) => {
      console.error(faultLine(date, logLevel, message, isJson))
    })
  ])

export const FaultLog = { layer }
