// The page that explains a body, or a request whose content is kept: what a provider would get of it, and what it answers.
// It must not know how a body is explained.
import * as client from "../AdminClient.ts"
import { dryRun, type DryRunAnswer, dryRunRoutes, requestContent, type RequestRow } from "../AdminClient.ts"
import { readAnswer } from "./requests/readAnswer.ts"
import { count, dollars, duration } from "../format.ts"
import { href, place } from "../Location.ts"
import { Difference, List } from "../parts/Display.tsx"
import { readable } from "../mediaIn.ts"
import { useSignal } from "@preact/signals"
import { isFields, readJson } from "../readJson.ts"
import { gatewayKey, KeyField } from "../parts/Fields.tsx"
import { messageOf, useQuery } from "../parts/Query.ts"
import { calledRoute } from "./requests/snippets.ts"

export interface Sending {
  readonly key: string
  readonly route: string
  /** Id of a config; empty for that of the key. */
  readonly config: string
  readonly body: unknown
}

/** The answer as a text, and the row of the request once it is listed. */
interface Replayed {
  readonly answer: string
  readonly row: client.RequestRow | undefined
}

/** The text of an answer, or the whole of one that has none, such as an error. */
const answerTextOf = (answer: string): string => {
  const { text } = readAnswer(answer)
  return text === "" ? answer : text
}

const mostLooks = 20
const lookMillis = 100

/** Rows are listed shortly after their requests have ended. */
const rowOf = async (requestId: string): Promise<client.RequestRow | undefined> => {
  for (let look = 0; look < mostLooks; look++) {
    const { data } = await client.requests({ request_id: requestId, limit: "1" })
    if (data[0] !== undefined) return client.request(data[0].id)
    await new Promise((done) => setTimeout(done, lookMillis))
  }
  return undefined
}

const replay = async ({ body, config, key, route }: Sending): Promise<Replayed> => {
  const response = await fetch(route, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gateway-api-key": key,
      ...(config === "" ? {} : { "x-gateway-config": config })
    },
    body: JSON.stringify(body)
  })
  const answer = answerTextOf(await response.text())
  return { answer, row: await rowOf(response.headers.get("x-request-id") ?? "") }
}

// The results of explaining: what the provider would get, and what an answer was like against the one before.

/** A dry run, and the body of the provider that it is compared with. */
interface ShownDryRun {
  readonly got: DryRunAnswer
  readonly before: string | undefined
}

const printed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))

const DryRunResult = ({ before, got }: ShownDryRun) => {
  const body = readable(got.body)
  return (
    <section class="card" aria-label="Dry run">
      <h2>The provider gets</h2>
      <p class="address">
        {got.method} {got.url}
      </p>
      {before === undefined ? <pre>{body}</pre> : <Difference before={before} after={body} />}
      <p>
        Ignored: {printed(got.ignored_params)}. Changed: {printed(got.adjusted_params)}.
        {before === undefined
          ? ""
          : before === body
            ? " The body is the same as before."
            : " Marked against the body before."}
      </p>
    </section>
  )
}

type Fact = readonly [name: string, of: (row: RequestRow) => string]

const facts: ReadonlyArray<Fact> = [
  ["Status", ({ status }) => String(status)],
  ["Provider", ({ provider }) => provider ?? "–"],
  ["Model", ({ model }) => model ?? "–"],
  ["Duration", (row) => duration(row.duration_ms)],
  ["First token", (row) => duration(row.ttft_ms)],
  ["Tokens in", ({ usage }) => (usage === undefined ? "–" : count(usage.input_tokens))],
  ["Tokens out", ({ usage }) => (usage === undefined ? "–" : count(usage.output_tokens))],
  ["Cost", (row) => dollars(row.cost_usd)]
]

const numbers = new Set(["Before", "Now"])

/** A request that was sent, and the one it is compared with. */
interface ShownReplay {
  readonly now: Replayed
  readonly before: Replayed | undefined
}

const ReplayResult = ({ before, now }: ShownReplay) => (
  <section class="card" aria-label="Sent">
    <h2>The answer</h2>
    {before === undefined ? <pre>{now.answer}</pre> : <Difference before={before.answer} after={now.answer} />}
    <List label="Figures" headings={["Figure", "Before", "Now"]} numbers={numbers}>
      {facts.map(([name, of]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td class="number">{before?.row === undefined ? "–" : of(before.row)}</td>
          <td class="number">{now.row === undefined ? "–" : of(now.row)}</td>
        </tr>
      ))}
    </List>
    {now.row === undefined ? null : (
      <p>
        <a href={href(`/requests/${encodeURIComponent(now.row.id)}`)}>Its request</a>
      </p>
    )}
  </section>
)

// A body with another model, key or config: what the provider would get of it, and what it answers.

/** What is known of a request that was taken. */
interface Taken {
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

// The page that explains a body, or a request whose content is kept: `/explain?request=ID`.

/** Whole bodies are sent again as they are; their media stay in them. */
const indented = (text: string): string => {
  const value = readJson(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

const take = async (id: string): Promise<Taken> => {
  const row = await client.request(id)
  const kept = await requestContent(row.id)
  const last = kept.calls.at(-1)?.body.text
  return {
    route: calledRoute(row),
    body: indented(kept.request.text),
    upstream: last === undefined ? undefined : readable(readJson(last) ?? last),
    replayed: { row, answer: answerTextOf(kept.answer?.text ?? "") }
  }
}

const OfRequest = ({ id }: { readonly id: string }) => {
  const { data, fault } = useQuery(id, () => take(id))
  if (fault.value !== "") return <p class="fault">{fault.value}</p>
  return data.value === undefined ? <p class="muted">Loading …</p> : <ExplainForm taken={data.value} />
}

export const Explain = () => {
  const id = place.value.query.get("request")
  return (
    <>
      <div class="title">
        <h1>Explain and replay</h1>
        {id === null ? null : <a href={href(`/requests/${encodeURIComponent(id)}`)}>The request</a>}
      </div>
      <p class="muted">
        A dry run sends nothing and counts against no key. Sending calls the provider, and the typed key pays for it.
      </p>
      {id === null ? <ExplainForm /> : <OfRequest key={id} id={id} />}
    </>
  )
}
