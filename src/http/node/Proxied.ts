// What a reverse proxy puts before the path of a request.
// It must not depend on routes, or on what is answered.
import * as Context from "effect/Context"

/** The path below which a reverse proxy shows the gateway, such as `/llm`; empty for none. */
export const BasePath: Context.Reference<string> = Context.Reference("gateway/http/BasePath", {
  defaultValue: () => ""
})

/**
 * Path and query without the base path. Addresses without it are served as well: probes, and proxies that take the
 * prefix off.
 */
export const withoutBasePath = (url: string, base: string): string => {
  if (base === "" || !url.startsWith(base)) return url
  const rest = url.slice(base.length)
  if (rest.startsWith("/")) return rest
  return rest === "" || rest.startsWith("?") ? `/${rest}` : url
}
