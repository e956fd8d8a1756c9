// /admin/v1/session: signs the console in and out, and shows whose session it is.
// It must not depend on pages, or on how sessions are kept.
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import { BodyInvalid, KeyInvalid, SessionRefused } from "../../../domain/GatewayError.ts"
import type { JsonObject } from "../../../domain/text/json.ts"
import type { Credential, Sessions } from "../../../keys/ConsoleSessions.ts"
import { endedCookie, sessionCookie, sessionFault, sessionIdOf, sessionKey } from "../../edge/ConsoleAuth.ts"
import { together } from "../../edge/Route.ts"
import { lifecycleRoute } from "../../edge/RequestLifecycle.ts"
import type { IncomingRequest } from "../../request/IncomingRequest.ts"
import { textReader } from "../../request/ReadBody.ts"
import { baseHeaders } from "../../response/baseHeaders.ts"

const path = "/admin/v1/session"

const answer = (value: unknown, incoming: IncomingRequest, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(JSON.stringify(value), {
    contentType: "application/json",
    headers: { ...baseHeaders(incoming), ...headers }
  })

/** Without a session `key_id` is null; where `is_open`, an empty sign-in begins one. */
const session = (keyId: string | null, { isOpen }: Sessions) => ({ object: "session", key_id: keyId, is_open: isOpen })

const readCredential = ({ code, key, ...rest }: JsonObject): Result.Result<Credential, BodyInvalid> => {
  const invalid = (param: string | null, message: string) =>
    Result.fail(new BodyInvalid({ code: "invalid_value", param, message }))
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return invalid(unknown.slice(0, 64), "Only key or code is taken here.")
  if (key !== undefined && code !== undefined) return invalid("code", "Send key or code, not both.")
  if (key === undefined && code === undefined) return Result.succeed({ _tag: "Nothing" })
  const text = key ?? code
  if (typeof text !== "string" || text.length > 512)
    return invalid(key === undefined ? "code" : "key", "It is a text of at most 512 characters.")
  return Result.succeed({ _tag: key === undefined ? "Code" : "Key", text: text.trim() })
}

const refuseForeign = (incoming: IncomingRequest, { hosts }: Sessions): Effect.Effect<void, SessionRefused> => {
  const reason = sessionFault(incoming, hosts)
  return reason === undefined ? Effect.void : Effect.fail(new SessionRefused({ reason }))
}

const signIn = (sessions: Sessions) =>
  lifecycleRoute(
    "POST",
    path,
    Effect.map(textReader(readCredential, "adminBodyBytes"), (read) =>
      Effect.fnUntraced(function* (incoming) {
        yield* refuseForeign(incoming, sessions)
        const credential = yield* read(incoming)
        const begun = yield* sessions.begin(credential, incoming.message?.socket.remoteAddress ?? "")
        const cookie = sessionCookie(incoming.headers, begun, yield* Clock.currentTimeMillis)
        return answer(session(begun.keyId, sessions), incoming, { "set-cookie": cookie })
      })
    )
  )

const signOut = (sessions: Sessions) =>
  lifecycleRoute(
    "DELETE",
    path,
    Effect.succeed(
      Effect.fnUntraced(function* (incoming) {
        yield* refuseForeign(incoming, sessions)
        const id = sessionIdOf(incoming.headers)
        if (id !== undefined) yield* sessions.end(id)
        const headers = { ...baseHeaders(incoming), "set-cookie": endedCookie(incoming.headers) }
        return HttpServerResponse.empty({ status: 204, headers })
      })
    )
  )

/** A page asks for it before it signs in, so an ended session is an answer here and not an error. */
const current = (sessions: Sessions) =>
  lifecycleRoute(
    "GET",
    path,
    Effect.succeed(
      Effect.fnUntraced(function* (incoming) {
        yield* refuseForeign(incoming, sessions)
        const search = sessionKey(sessions, incoming) ?? Effect.fail(new KeyInvalid())
        const keyId = yield* search.pipe(
          Effect.map(({ id }): string | null => id),
          Effect.catchTag("KeyInvalid", () => Effect.succeed(null))
        )
        return answer(session(keyId, sessions), incoming)
      })
    )
  )

/** The routes of the sessions of a console. */
export const sessionHandlers = (sessions: Sessions) => together(signIn(sessions), signOut(sessions), current(sessions))
