// The start of the console in a browser: finds the session, then shows the pages.
// It must not know any page.
import { render } from "preact"
import { resume, session, signIn } from "./AdminClient.ts"
import { App, signInFailure } from "./App.tsx"
import { followLinks, navigate } from "./Location.ts"

/** The code of a link is in the fragment, which browsers do not send. It leaves the address before it is used. */
const begin = async (): Promise<void> => {
  const code = new URLSearchParams(location.hash.slice(1)).get("code")
  if (code === null) return resume()
  navigate(location.pathname, true)
  await signIn({ code })
}

const root = document.getElementById("console")
if (root !== null) {
  addEventListener("click", followLinks)
  render(<App />, root)
  begin().catch((error: unknown) => {
    signInFailure.value = error instanceof Error ? error.message : String(error)
    session.value = "out"
  })
}
