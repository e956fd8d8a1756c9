// The frame of the console: sign-in, navigation, theme, keyboard with its help, and the page of the current address.
// It must not know what a page shows.
import { signal, type Signal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { session, signIn, signOut } from "./AdminClient.ts"
import { href, navigate, place } from "./Location.ts"
import { Audit } from "./pages/Audit.tsx"
import { Configs } from "./pages/configs/Configs.tsx"
import { Connect } from "./pages/Connect.tsx"
import { Keys } from "./pages/keys/Keys.tsx"
import { Overview } from "./pages/Overview.tsx"
import { Explain } from "./pages/Explain.tsx"
import { Playground } from "./pages/playground/Playground.tsx"
import { Prompts } from "./pages/prompts/Prompts.tsx"
import { Providers } from "./pages/Providers.tsx"
import { RequestDetail } from "./pages/requests/RequestDetail.tsx"
import { Requests } from "./pages/requests/Requests.tsx"
import { Settings } from "./pages/Settings.tsx"
import { Fault } from "./parts/Display.tsx"
import { type FieldText, onSubmit } from "./parts/Fields.tsx"
import { messageOf } from "./parts/Query.ts"

/** Why the last sign-in failed. */
export const signInFailure = signal("")

const submitKey = async (text: FieldText, form: HTMLFormElement): Promise<void> => {
  signInFailure.value = ""
  try {
    await signIn({ key: text("key") })
    form.reset()
  } catch (error) {
    signInFailure.value = messageOf(error)
  }
}

const SignIn = () => (
  <main class="sign-in">
    <form class="card" onSubmit={onSubmit(submitKey)}>
      <h1>model-gateway</h1>
      <p>Open the link that the gateway printed at its start, or sign in with a key that has the scope admin.</p>
      <label>
        Admin key
        <input name="key" type="password" required autocomplete="current-password" spellcheck={false} />
      </label>
      <Fault text={signInFailure.value} />
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  </main>
)

interface HelpProps {
  readonly isOpen: Signal<boolean>
  readonly keys: ReadonlyArray<readonly [key: string, meaning: string]>
}

/** The keys of the console as a dialog, which holds the focus until it is closed. */
const Help = ({ isOpen, keys }: HelpProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const shown = isOpen.value
  useEffect(() => {
    if (shown) dialog.current?.showModal()
    else dialog.current?.close()
  }, [shown])
  return (
    <dialog
      ref={dialog}
      class="card help"
      aria-labelledby="help-title"
      onClose={() => (isOpen.value = false)}
      // An open dialog has the keys for itself. A closed one keeps the focus until the page is drawn again.
      onKeyDown={(event) => {
        if (event.currentTarget.open) event.stopPropagation()
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {keys.map(([key, meaning]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={meaning}>{meaning}</dd>
        ])}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}

const pages = [
  { path: "/", name: "Overview", Page: Overview },
  { path: "/requests", name: "Requests", Page: Requests },
  { path: "/playground", name: "Playground", Page: Playground },
  { path: "/keys", name: "Keys", Page: Keys },
  { path: "/configs", name: "Configs", Page: Configs },
  { path: "/prompts", name: "Prompts", Page: Prompts },
  { path: "/providers", name: "Providers", Page: Providers },
  { path: "/connect", name: "Connect", Page: Connect },
  { path: "/audit", name: "Audit", Page: Audit },
  { path: "/settings", name: "Settings", Page: Settings }
]

const isHelpOpen = signal(false)

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, select, textarea")

/** Keys of all pages; a page adds its own. */
const onKey = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === "Escape") {
    if (isTyping(event.target) && event.target instanceof HTMLElement) event.target.blur()
    return
  }
  if (isTyping(event.target)) return
  const page = pages[Number(event.key) - 1]
  if (page !== undefined) navigate(href(page.path))
  else if (event.key === "?") isHelpOpen.value = true
  else if (event.key === "/") {
    event.preventDefault()
    document.querySelector<HTMLElement>("[data-search]")?.focus()
  }
}

const keys = [
  ["1 to 9", "The first pages, in their order"],
  ["/", "The first filter or field"],
  ["j, k", "The next and the previous request"],
  ["Enter", "Open the request"],
  ["Esc", "Leave a field, go back to the list, or close this"],
  ["?", "These keys"]
] as const

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
      <button type="button" aria-label="Keys" title="Keys" onClick={() => (isHelpOpen.value = true)}>
        ?
      </button>
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
        <Content />
      </main>
      <Help isOpen={isHelpOpen} keys={keys} />
    </>
  )
}
