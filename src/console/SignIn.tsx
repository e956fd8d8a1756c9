// The form that signs in with an admin key.
// Must not know pages.
import { signal } from "@preact/signals"
import { signIn } from "./AdminClient.ts"
import { messageOf } from "./parts/Query.ts"

/** Why the last sign-in failed. */
export const failure = signal("")

const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }): Promise<void> => {
  event.preventDefault()
  const form = event.currentTarget
  const key = String(new FormData(form).get("key") ?? "")
  failure.value = ""
  try {
    await signIn({ key })
    form.reset()
  } catch (error) {
    failure.value = messageOf(error)
  }
}

export const SignIn = () => (
  <main class="sign-in">
    <form class="card" onSubmit={(event) => void submit(event)}>
      <h1>model-gateway</h1>
      <p>Open the link that the gateway printed at its start, or sign in with a key that has the scope admin.</p>
      <label>
        Admin key
        <input name="key" type="password" required autocomplete="current-password" spellcheck={false} />
      </label>
      <p class="fault" role="alert">
        {failure.value}
      </p>
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  </main>
)
