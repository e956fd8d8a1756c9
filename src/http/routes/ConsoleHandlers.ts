// /console: the files of the console, which are public; and /admin/v1/session, which signs the console in and out. Without a console there are no routes.
// It must not depend on what the pages do, or on how sessions are kept.
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import { BodyInvalid, KeyInvalid, SessionRefused } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { ConsoleSessions, type Credential, type Sessions } from "../../keys/ConsoleSessions.ts"
import { endedCookie, sessionCookie, sessionFault, sessionIdOf, sessionKey } from "../edge/ConsoleAuth.ts"
import { together } from "../edge/Route.ts"
import { BasePath, ClientReader } from "../node/Proxied.ts"
import { lifecycleRoute, openRoute } from "../edge/RequestLifecycle.ts"
import { type IncomingRequest, pathUnknown } from "../request/IncomingRequest.ts"
import { textReader } from "../request/ReadBody.ts"
import { baseHeaders } from "../response/responseHeaders.ts"
import { linkedPage, type LinkedPage, compressPage, pageAnswer } from "../response/CompressedPage.ts"

const sessionPath = "/admin/v1/session"

const sessionAnswer = (value: unknown, incoming: IncomingRequest, headers: Readonly<Record<string, string>> = {}) =>
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
    sessionPath,
    Effect.map(textReader(readCredential, "adminBodyBytes"), (read) =>
      Effect.fnUntraced(function* (incoming) {
        yield* refuseForeign(incoming, sessions)
        const credential = yield* read(incoming)
        const client = (yield* ClientReader)(incoming.exchange)
        const begun = yield* sessions.begin(credential, client.address)
        const cookie = sessionCookie(incoming.headers, begun, yield* Clock.currentTimeMillis, {
          base: yield* BasePath,
          isSecure: client.isSecure
        })
        return sessionAnswer(session(begun.keyId, sessions), incoming, { "set-cookie": cookie })
      })
    )
  )

const signOut = (sessions: Sessions) =>
  openRoute(
    "DELETE",
    sessionPath,
    Effect.fnUntraced(function* (incoming) {
      yield* refuseForeign(incoming, sessions)
      const id = sessionIdOf(incoming.headers)
      if (id !== undefined) yield* sessions.end(id)
      const headers = {
        ...baseHeaders(incoming),
        "set-cookie": endedCookie(incoming.headers, {
          base: yield* BasePath,
          isSecure: (yield* ClientReader)(incoming.exchange).isSecure
        })
      }
      return HttpServerResponse.empty({ status: 204, headers })
    })
  )

/** A page asks for it before it signs in, so an ended session is an answer here and not an error. */
const currentSession = (sessions: Sessions) =>
  openRoute(
    "GET",
    sessionPath,
    Effect.fnUntraced(function* (incoming) {
      yield* refuseForeign(incoming, sessions)
      const search = sessionKey(sessions, incoming) ?? Effect.fail(new KeyInvalid())
      const keyId = yield* search.pipe(
        Effect.map(({ id }): string | null => id),
        Effect.catchTag("KeyInvalid", () => Effect.succeed(null))
      )
      return sessionAnswer(session(keyId, sessions), incoming)
    })
  )

/** The routes of the sessions of a console. */
const sessionHandlers = (sessions: Sessions) => together(signIn(sessions), signOut(sessions), currentSession(sessions))

// /console: the files of the console, which are public; what they show needs a session. Without a console there are no routes.

/** Only the console's own files run, and only its own origin is called. */
const policy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'"
].join("; ")

const htmlHeaders = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin"
}

/** The names of the files contain a digest of their bytes. */
const assetHeaders = { "cache-control": "public, max-age=31536000, immutable" }

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8"
}

const assetsPath = "/console/assets/"

type Pages = ReadonlyMap<string, LinkedPage>

/** The module that `npm run pages` writes: the text of each file by its name. */
interface Bundle {
  readonly files: Readonly<Record<string, string>>
}
const bundleModule = "#console"

/** The built console; no pages where it is not built. It is loaded once, at the first request for it. */
const loadPages = async (): Promise<Pages> => {
  const { files }: Bundle = await import(/* @vite-ignore */ bundleModule).catch(() => ({ files: {} }))
  const pages = Object.entries(files).map(async ([name, text]): Promise<readonly [string, LinkedPage]> => {
    const ending = name.slice(name.lastIndexOf(".") + 1)
    const contentType = contentTypes[ending] ?? "text/plain"
    if (ending === "html") return [name, linkedPage(text, contentType, htmlHeaders)]
    const asset = await compressPage(text, contentType, assetHeaders)
    return [name, () => Promise.resolve(asset)]
  })
  return new Map(await Promise.all(pages))
}

/** A clone has no console until it is built. */
const unbuilt = HttpServerResponse.text("The console is not built: run npm run pages, and start the gateway again.", {
  status: 503,
  headers: { "cache-control": "no-store" }
})

const consoleFiles = () => {
  let loading: Promise<Pages> | undefined
  return openRoute(
    "GET",
    "/console/*",
    Effect.fnUntraced(function* (incoming) {
      const pages = yield* Effect.promise(() => (loading ??= loadPages()))
      if (pages.size === 0) return unbuilt
      const isAsset = incoming.path.startsWith(assetsPath)
      const page = pages.get(isAsset ? incoming.path.slice(assetsPath.length) : "index.html")
      return page === undefined
        ? yield* pathUnknown(incoming)
        : yield* Effect.promise(async () => pageAnswer(await page(incoming), incoming))
    })
  )
}

export const ConsoleHandlers = Effect.flatMap(ConsoleSessions, (sessions) =>
  sessions === undefined ? together() : together(consoleFiles(), sessionHandlers(sessions))
)
