// The end user of a request as rows keep it: the text of the client, or a digest that is the same for the same user.
// Must not know where rows are kept.
import { hash } from "node:crypto"
import type { RequestFilter } from "../domain/usage/usageSums.ts"

/** `user-` and half of the SHA-256: the rows of a user are found by it, and the name is not stored. */
const endUserDigest = (user: string): string => `user-${hash("sha256", user).slice(0, 32)}`

export type EndUserForm = "hashed" | "plain"

export const storedEndUser = (user: string, form: EndUserForm): string =>
  form === "plain" ? user : endUserDigest(user)

/** What a search by user takes: the text as it is, and its digest. */
const endUserForms = (user: string): ReadonlyArray<string> => [user, endUserDigest(user)]

/** The filter by all forms of its user. */
export const withEndUser = <Query extends Pick<RequestFilter, "user">>(query: Query): Query => ({
  ...query,
  user: typeof query.user === "string" ? endUserForms(query.user) : query.user
})
