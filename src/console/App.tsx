// The frame of the console: navigation, theme, keyboard, and the page of the current address.
// Must not know what a page shows.
import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { session, signOut } from "./AdminClient.ts"
import { href, navigate, place } from "./Location.ts"
import { Audit } from "./pages/Audit.tsx"
import { Configs } from "./pages/Configs.tsx"
import { Connect } from "./pages/Connect.tsx"
import { Keys } from "./pages/Keys.tsx"
import { Overview } from "./pages/Overview.tsx"
import { Explain } from "./pages/explain/Explain.tsx"
import { Playground } from "./pages/playground/Playground.tsx"
import { Providers } from "./pages/Providers.tsx"
import { RequestDetail } from "./pages/requests/RequestDetail.tsx"
import { Requests } from "./pages/Requests.tsx"
import { SignIn } from "./SignIn.tsx"

const pages = [
  { path: "/", name: "Overview", Page: Overview },
  { path: "/requests", name: "Requests", Page: Requests },
  { path: "/playground", name: "Playground", Page: Playground },
  { path: "/keys", name: "Keys", Page: Keys },
  { path: "/configs", name: "Configs", Page: Configs },
  { path: "/providers", name: "Providers", Page: Providers },
  { path: "/connect", name: "Connect", Page: Connect },
  { path: "/audit", name: "Audit", Page: Audit }
]

const isHelpOpen = signal(false)

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, select, textarea")

/** Keys of all pages; a page adds its own. */
const onKey = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === "Escape") {
    isHelpOpen.value = false
    if (isTyping(event.target) && event.target instanceof HTMLElement) event.target.blur()
    return
  }
  if (isTyping(event.target)) return
  const page = pages[Number(event.key) - 1]
  if (page !== undefined) navigate(href(page.path))
  else if (event.key === "?") isHelpOpen.value = !isHelpOpen.value
  else if (event.key === "/") {
    event.preventDefault()
    document.querySelector<HTMLElement>("[data-search]")?.focus()
  }
}

const Help = () => (
  <section class="card help" aria-label="Keys">
    <h2>Keys</h2>
    <dl>
      <dt>1 to {pages.length}</dt>
      <dd>The pages, in their order</dd>
      <dt>/</dt>
      <dd>The first filter</dd>
      <dt>j, k</dt>
      <dd>The next and the previous request</dd>
      <dt>Enter</dt>
      <dd>Open the request</dd>
      <dt>Esc</dt>
      <dd>Back to the list, or close this</dd>
    </dl>
  </section>
)

const Content = () => {
  const { path } = place.value
  if (path.startsWith("/requests/")) return <RequestDetail id={decodeURIComponent(path.slice("/requests/".length))} />
  if (path === "/explain") return <Explain />
  const page = pages.find((one) => one.path === path)
  return page === undefined ? (
    <p>
      There is no such page. <a href={href("/")}>Overview</a>
    </p>
  ) : (
    <page.Page />
  )
}

const Navigation = ({ keyId }: { readonly keyId: string }) => {
  const { path } = place.value
  return (
    <header class="bar">
      <a class="brand" href={href("/")}>
        model-gateway
      </a>
      <nav aria-label="Pages">
        {pages.map((one) => (
          <a
            key={one.path}
            href={href(one.path)}
            aria-current={
              path === one.path || (one.path !== "/" && path.startsWith(`${one.path}/`)) ? "page" : undefined
            }
          >
            {one.name}
          </a>
        ))}
      </nav>
      <span class="who" title="The admin key of this session">
        {keyId}
      </span>
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </header>
  )
}

export const App = () => {
  useEffect(() => {
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
  const current = session.value
  if (current === "unknown") return <p class="waiting">Signing in …</p>
  if (current === "out") return <SignIn />
  return (
    <>
      <Navigation keyId={current.keyId} />
      <main>
        {isHelpOpen.value ? <Help /> : null}
        <Content />
      </main>
    </>
  )
}
