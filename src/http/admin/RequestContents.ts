// GET /admin/v1/requests/{id}/content: the captured bodies and answer of a request. Each read is in the audit log.
// It must not depend on how content is captured or kept.
import * as Effect from "effect/Effect"
import { Administration } from "../../admin/Administration.ts"
import type { AdminRequestContent } from "../../api/AdminResources.ts"
import type { ContentText, KeptContent } from "../../domain/content/RequestContent.ts"
import { RecordUnknown } from "../../domain/GatewayError.ts"
import { ContentStore } from "../../store/content/ContentStore.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"

/** A request id has no other letters. */
const contentPath = /^\/admin\/v1\/requests\/[\w-]{1,128}\/content$/

const shownText = ({ bytes, isCut, text }: ContentText) => ({ text, bytes, is_cut: isCut })

const shownContent = ({ content, expiresMillis, id }: KeptContent): AdminRequestContent => ({
  object: "request_content",
  id,
  expires_at: new Date(expiresMillis).toISOString(),
  request: shownText(content.request),
  calls: content.calls.map(({ adjusted, body, ignored, ...call }) => ({
    ...call,
    body: shownText(body),
    ignored_params: ignored,
    adjusted_params: adjusted
  })),
  ...(content.answer === undefined ? {} : { answer: shownText(content.answer) })
})

/** The audit entry is written first, so that no content leaves without one. */
export const RequestContents = keyedRoute(
  "GET",
  "/admin/v1/requests/:id/content",
  Effect.gen(function* () {
    const contents = yield* ContentStore
    const { noteRead } = yield* Administration
    return Effect.fnUntraced(function* ({ incoming, key }) {
      const id = incoming.path.split("/")[4] ?? ""
      const found = contentPath.test(incoming.path) ? yield* contents.find(id) : undefined
      if (found === undefined) return yield* new RecordUnknown({ kind: "request_content", id: id.slice(0, 128) })
      yield* noteRead(id, { id: key.id, requestId: incoming.requestId })
      return yield* json(shownContent(found), incoming)
    })
  }),
  "admin"
)
