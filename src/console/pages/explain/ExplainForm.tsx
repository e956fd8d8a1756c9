// A body with another model, key or config: what the provider would get of it, and what it answers.
// Must not know where the body comes from.
import { useSignal } from "@preact/signals"
import * as client from "../../AdminClient.ts"
import { isFields } from "../../fields.ts"
import { gatewayKey, KeyField } from "../../parts/KeyField.tsx"
import { messageOf, useQuery } from "../../parts/Query.ts"
import { readJson } from "../../readJson.ts"
import { dryRun, dryRunRoutes } from "../requests/DetailClient.ts"
import { readable } from "../../mediaIn.ts"
import { type Replayed, replay } from "./Replay.ts"
import { DryRunResult, ReplayResult, type ShownDryRun, type ShownReplay } from "./Results.tsx"

/** What is known of a request that was taken. */
export interface Taken {
  readonly route: string
  readonly body: string
  /** The last body that a provider got. */
  readonly upstream: string | undefined
  readonly replayed: Replayed
}

interface Results {
  readonly dry?: ShownDryRun
  readonly sent?: ShownReplay
}

const sample = JSON.stringify(
  { model: "@google/gemini-3.8-flash", messages: [{ role: "user", content: "Hello" }] },
  null,
  2
)

interface Choice {
  readonly id: string
  readonly name?: string
}

const Select = ({
  choices,
  label,
  name,
  none
}: {
  readonly name: string
  readonly label: string
  readonly none: string
  readonly choices: ReadonlyArray<Choice>
}) => (
  <label>
    {label}
    <select name={name}>
      <option value="">{none}</option>
      {choices.map(({ id, name: shown = id }) => (
        <option key={id} value={id}>
          {shown}
        </option>
      ))}
    </select>
  </label>
)

const Fields = ({ taken }: { readonly taken: Taken | undefined }) => {
  const { data, fault } = useQuery("choices", async () => ({
    keys: (await client.keys()).data.filter((key) => key.revoked_at === undefined),
    configs: (await client.configs()).data
  }))
  return (
    <>
      <label>
        Route
        <input name="route" list="routes" required spellcheck={false} defaultValue={taken?.route ?? dryRunRoutes[0]} />
        <datalist id="routes">
          {dryRunRoutes.map((route) => (
            <option key={route} value={route} />
          ))}
        </datalist>
      </label>
      <label>
        Other model
        <input name="model" spellcheck={false} placeholder="that of the body" />
      </label>
      <Select name="key" label="As the key" none="this session" choices={data.value?.keys ?? []} />
      <Select name="config" label="Config" none="that of the key" choices={data.value?.configs ?? []} />
      <label class="whole">
        Body as a client sends it
        <textarea name="body" class="code" rows={10} required spellcheck={false} defaultValue={taken?.body ?? sample} />
      </label>
      <p class="fault whole">{fault.value}</p>
    </>
  )
}

const readForm = (fields: FormData) => {
  const text = (name: string): string => String(fields.get(name) ?? "").trim()
  const parsed = readJson(text("body"))
  if (!isFields(parsed)) throw new Error("The body is not a JSON object.")
  const model = text("model")
  const route = text("route")
  const choice = { key: text("key"), config: text("config") }
  if (model === "") return { ...choice, route, body: parsed }
  // The paths of Google's calls name the model, and their bodies none.
  return route.includes("/models/")
    ? { ...choice, route: route.replace(/models\/.*(?=:)/, `models/${model}`), body: parsed }
    : { ...choice, route, body: { ...parsed, model } }
}

export const ExplainForm = ({ taken }: { readonly taken?: Taken }) => {
  const results = useSignal<Results>({})
  const fault = useSignal("")
  const isBusy = useSignal(false)
  const explain = async (form: ReturnType<typeof readForm>): Promise<void> => {
    const got = await dryRun(form, form.body)
    const earlier = results.value.dry?.got.body
    results.value = { dry: { got, before: earlier === undefined ? taken?.upstream : readable(earlier) } }
  }
  const send = async (form: ReturnType<typeof readForm>): Promise<void> => {
    if (gatewayKey.value === "") throw new Error("Sending needs the text of a gateway key, whose budget pays for it.")
    const now = await replay({ ...form, key: gatewayKey.value })
    results.value = { ...results.value, sent: { now, before: results.value.sent?.now ?? taken?.replayed } }
  }
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }): Promise<void> => {
    event.preventDefault()
    const isSending = event.submitter?.getAttribute("value") === "send"
    const fields = new FormData(event.currentTarget)
    fault.value = ""
    isBusy.value = true
    try {
      await (isSending ? send : explain)(readForm(fields))
    } catch (error) {
      fault.value = messageOf(error)
    }
    isBusy.value = false
  }
  const { dry, sent } = results.value
  return (
    <>
      <form class="card form" onSubmit={(event) => void submit(event)}>
        <Fields taken={taken} />
        <KeyField />
        <div class="actions whole">
          <button type="submit" class="primary" disabled={isBusy.value}>
            Show what the provider gets
          </button>
          <button type="submit" value="send" disabled={isBusy.value}>
            Send it
          </button>
        </div>
      </form>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {dry === undefined ? null : <DryRunResult {...dry} />}
      {sent === undefined ? null : <ReplayResult {...sent} />}
    </>
  )
}
