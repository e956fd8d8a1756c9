// The route of a request as a client calls it: the paths of Google's own dialects name the model and whether it streams.
// Must not know bodies.
import type { RequestRow } from "../../AdminClient.ts"

/** The route, of which rows have the template, such as `/v1beta/models/:model:generateContent`. */
export const calledRoute = ({
  model,
  provider,
  route,
  stream
}: Pick<RequestRow, "model" | "provider" | "route" | "stream">): string => {
  if (!route.includes(":model")) return route
  const named = route.replace(":model", `@${provider}/${model}`)
  return stream
    ? named.replace(":rawPredict", ":streamRawPredict").replace(":generateContent", ":streamGenerateContent?alt=sse")
    : named
}
