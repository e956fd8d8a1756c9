// The address of the page: its path below /console, its query, and moving to another one.
// It must not know which pages there are.
import { signal } from "@preact/signals"
import { withQuery } from "./format.ts"
import { gatewayAddress } from "./gatewayAddress.ts"

export interface Place {
  /** `/` or `/requests/ID`. */
  readonly path: string
  readonly query: URLSearchParams
}

const root = `${new URL(gatewayAddress).pathname.replace(/\/$/, "")}/console`

const read = (): Place => ({
  path: location.pathname.slice(root.length).replace(/\/$/, "") || "/",
  query: new URLSearchParams(location.search)
})

export const place = signal<Place>(read())

addEventListener("popstate", () => {
  place.value = read()
})

/** The address of a page. Empty fields of the query are left out. */
export const href = (path: string, query: Readonly<Record<string, string | undefined>> = {}): string =>
  withQuery(`${root}${path}`, query)

/** Moves to an address of the console; `replaces` keeps the history as it is. */
export const navigate = (target: string, replaces = false): void => {
  if (replaces) history.replaceState(null, "", target)
  else history.pushState(null, "", target)
  place.value = read()
}

/** Plain clicks on links of the console do not load the page again. */
export const followLinks = (event: MouseEvent): void => {
  const link = event.target instanceof Element ? event.target.closest("a") : null
  if (link === null || link.origin !== location.origin || !link.pathname.startsWith(`${root}/`)) return
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  if (link.target !== "" || link.hasAttribute("download")) return
  event.preventDefault()
  navigate(link.pathname + link.search)
}
