// The queries of the routes of kept responses: what is shown again of one, and a page of its input.
// It must not depend on what answers them. Rules: R111, R412.
import * as Result from "effect/Result"
import { BodyInvalid, type RequestFault } from "../../../domain/GatewayError.ts"
import type { Shown } from "../../../translate/responses-to-chat/facts.ts"
import type { ItemsAsked } from "../../../translate/responses-to-chat/kept.ts"
import { shownBy } from "../../../translate/responses-to-chat/request/params.ts"

const paramsOf = (url: string): URLSearchParams => {
  const at = url.indexOf("?")
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1))
}

const invalid = (param: string, code: string, message: string) => Result.fail(new BodyInvalid({ code, param, message }))

/** Lists of a query are written with brackets, with a number in them, or as a repeated name. */
const isInclude = (name: string): boolean => /^include(?:\[\d*\])?$/.test(name)

export const shownQuery = (url: string): Result.Result<Omit<Shown, "summaries">, RequestFault> => {
  const params = paramsOf(url)
  if (params.get("stream") === "true")
    return invalid("stream", "unsupported_parameter", "A kept response is answered whole; leave stream out.")
  return Result.succeed(shownBy([...params].filter(([name]) => isInclude(name)).map(([, word]) => word)))
}

const mostItems = 100
const usualItems = 20

export const itemsQuery = (url: string): Result.Result<ItemsAsked, RequestFault> => {
  const params = paramsOf(url)
  const limit = params.get("limit") ?? String(usualItems)
  const order = params.get("order") ?? "desc"
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > mostItems)
    return invalid("limit", "invalid_value", `limit is a whole number from 1 to ${mostItems}.`)
  if (order !== "asc" && order !== "desc") return invalid("order", "invalid_value", "order is asc or desc.")
  return Result.succeed({ limit: Number(limit), order, after: params.get("after") ?? undefined })
}
