// Deletes requests of a user, of a key or before a moment, with their content, and notes it in the audit log.
// Must not know HTTP, terminals or tables. Sums of usage stay, because they name no user.
import { hash } from "node:crypto"
import * as Effect from "effect/Effect"
import { withEndUser } from "../accounting/EndUser.ts"
import type { DeletedRequests } from "../api/AdminApi.ts"
import { isoText } from "../domain/time.ts"
import type { RequestDeletion } from "../domain/usage/usageSums.ts"
import { UsageLog } from "../keys/UsageLog.ts"
import { ContentStore } from "../store/ContentStore.ts"
import { removedRows } from "../store/database/Retention.ts"
import type { Actor } from "../store/StoredRecord.ts"
import { Administration } from "./Administration.ts"

/** A deletion as it is asked for, with the user as clients name it. */
type WrittenDeletion = Omit<RequestDeletion, "user"> & { readonly user?: string | undefined }

/** What was deleted, without the name of a user, which the audit log would keep. */
const shownDeletion = ({ key, until, user }: WrittenDeletion): string =>
  [
    ...(user === undefined ? [] : [`user=sha256:${hash("sha256", user).slice(0, 16)}`]),
    ...(key === undefined ? [] : [`key=${key}`]),
    ...(until === undefined ? [] : [`before=${isoText(until)}`])
  ].join("&")

/** The entry of the audit log is written first, so that nothing leaves without one. Requests that end meanwhile may stay. */
export const deleteRequests = Effect.fnUntraced(function* (deletion: WrittenDeletion, actor: Actor) {
  const log = yield* UsageLog
  const forms = withEndUser(deletion)
  const contents = yield* ContentStore
  yield* (yield* Administration).noteDeletion(shownDeletion(deletion), actor)
  const deleted = { requests: 0, contents: 0 }
  let removed: number
  do {
    const ids = yield* log.remove(forms)
    removed = ids.length
    deleted.requests += removed
    deleted.contents += yield* contents.remove(ids)
  } while (removed >= removedRows)
  // Content may outlive the row of its request, and has the key and the time of it.
  if (deletion.user === undefined)
    do {
      removed = yield* contents.removeOlder(deletion)
      deleted.contents += removed
    } while (removed >= removedRows)
  const answer: DeletedRequests = { object: "requests_deleted", ...deleted }
  return answer
})
