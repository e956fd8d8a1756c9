// The page that explains a body, or a request whose content is kept: what a provider would get of it, and what it answers.
// It must not know how a body is explained.
import { useSignal } from "@preact/signals"
import {
  configs,
  dryRun,
  type DryRunAnswer,
  type DryRunChoice,
  dryRunRoutes,
  keys,
  request,
  requestContent,
  type RequestRow,
  requests
} from "../AdminClient.ts"
import { count, dollars, duration } from "../format.ts"
import { gatewayKey, sendBody } from "../GatewayCalls.ts"
import { href, place } from "../Location.ts"
import { readable } from "../mediaIn.ts"
import { type Column, Difference, DryRunChanges, Fault, List, Loading, Title } from "../parts/Display.tsx"
import { Area, Choice, Field, type FieldText, KeyField, onSubmit, type Options } from "../parts/Fields.tsx"
import { useAction, useQuery } from "../parts/Query.ts"
import { isFields, readJson } from "../readJson.ts"
import { readAnswer } from "./requests/readAnswer.ts"
import { calledRoute } from "./requests/snippets.ts"

/** A body for a route, as a key and a config serve it. */
interface Sending extends DryRunChoice {
  readonly body: unknown
}

/** The answer as a text, and the row of the request once it is listed. */
interface Replayed {
  readonly answer: string
  readonly row: RequestRow | undefined
}

/** The text of an answer, or the whole of one that has none, such as an error. */
const answerTextOf = (answer: string): string => {
  const { text } = readAnswer(answer)
  return text === "" ? answer : text
}

const mostLooks = 20
const lookMillis = 100

/** Rows are listed shortly after their requests have ended. */
const rowOf = async (requestId: string): Promise<RequestRow | undefined> => {
  for (let look = 0; look < mostLooks; look++) {
    const { data } = await requests({ request_id: requestId, limit: "1" })
    if (data[0] !== undefined) return request(data[0].id)
    await new Promise((done) => setTimeout(done, lookMillis))
  }
  return undefined
}

const replay = async ({ body, config, route }: Sending): Promise<Replayed> => {
  const response = await sendBody(route, body, config)
  const answer = answerTextOf(await response.text())
  return { answer, row: await rowOf(response.headers.get("x-request-id") ?? "") }
}

/** A dry run, and the body of the provider that it is compared with. */
interface ShownDryRun {
  readonly got: DryRunAnswer
  readonly before: string | undefined
}

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
        <DryRunChanges got={got} />
        {before === undefined
          ? ""
          : before === body
            ? " The body is the same as before."
            : " Marked against the body before."}
      </p>
    </section>
  )
}

type Figure = readonly [name: string, of: (row: RequestRow) => string]

const figures: ReadonlyArray<Figure> = [
  ["Status", ({ status }) => String(status)],
  ["Provider", ({ provider }) => provider ?? "–"],
  ["Model", ({ model }) => model ?? "–"],
  ["Duration", (row) => duration(row.duration_ms)],
  ["First token", (row) => duration(row.ttft_ms)],
  ["Tokens in", ({ usage }) => (usage === undefined ? "–" : count(usage.input_tokens))],
  ["Tokens out", ({ usage }) => (usage === undefined ? "–" : count(usage.output_tokens))],
  ["Cost", (row) => dollars(row.cost_usd)]
]

const figureColumns = (before: RequestRow | undefined, now: RequestRow | undefined): ReadonlyArray<Column<Figure>> => [
  { name: "Figure", isHeading: true, cell: ([name]) => name },
  { name: "Before", isNumber: true, cell: ([, of]) => (before === undefined ? "–" : of(before)) },
  { name: "Now", isNumber: true, cell: ([, of]) => (now === undefined ? "–" : of(now)) }
]

/** A request that was sent, and the one it is compared with. */
interface ShownReplay {
  readonly now: Replayed
  readonly before: Replayed | undefined
}

const ReplayResult = ({ before, now }: ShownReplay) => (
  <section class="card" aria-label="Sent">
    <h2>The answer</h2>
    {before === undefined ? <pre>{now.answer}</pre> : <Difference before={before.answer} after={now.answer} />}
    <List label="Figures" columns={figureColumns(before?.row, now.row)} rows={figures} keyOf={([name]) => name} />
    {now.row === undefined ? null : (
      <p>
        <a href={href(`/requests/${encodeURIComponent(now.row.id)}`)}>Its request</a>
      </p>
    )}
  </section>
)

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

const optionsOf = (none: string, rows: ReadonlyArray<{ readonly id: string; readonly name?: string }>): Options => [
  ["", none],
  ...rows.map(({ id, name = id }) => [id, name] as const)
]

const ExplainFields = ({ taken }: { readonly taken: Taken | undefined }) => {
  const { data, fault } = useQuery("choices", async () => ({
    keys: (await keys.list()).data.filter((key) => key.revoked_at === undefined),
    configs: (await configs.list()).data
  }))
  return (
    <>
      <Field label="Route" name="route" list="routes" value={taken?.route ?? dryRunRoutes[0]} isRequired />
      <datalist id="routes">
        {dryRunRoutes.map((route) => (
          <option key={route} value={route} />
        ))}
      </datalist>
      <Field label="Other model" name="model" hint="that of the body" />
      <Choice label="As the key" name="key" options={optionsOf("this session", data.value?.keys ?? [])} />
      <Choice label="Config" name="config" options={optionsOf("that of the key", data.value?.configs ?? [])} />
      <Area label="Body as a client sends it" name="body" rows={10} value={taken?.body ?? sample} isCode isRequired />
      <p class="fault whole">{fault.value}</p>
    </>
  )
}

const readForm = (text: FieldText): Sending => {
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
  const { fault, isBusy, run } = useAction()
  const explain = async (sending: Sending): Promise<void> => {
    const got = await dryRun(sending, sending.body)
    const earlier = results.value.dry?.got.body
    results.value = { dry: { got, before: earlier === undefined ? taken?.upstream : readable(earlier) } }
  }
  const send = async (sending: Sending): Promise<void> => {
    if (gatewayKey.value === "") throw new Error("Sending needs the text of a gateway key, whose budget pays for it.")
    const now = await replay(sending)
    results.value = { ...results.value, sent: { now, before: results.value.sent?.now ?? taken?.replayed } }
  }
  const submit = onSubmit((text, _form, button) =>
    run(async () => (button === "send" ? send : explain)(readForm(text)))
  )
  const { dry, sent } = results.value
  return (
    <>
      <form class="card form" onSubmit={submit}>
        <ExplainFields taken={taken} />
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
      <Fault text={fault.value} />
      {dry === undefined ? null : <DryRunResult {...dry} />}
      {sent === undefined ? null : <ReplayResult {...sent} />}
    </>
  )
}

/** Whole bodies are sent again as they are; their media stay in them. */
const indented = (text: string): string => {
  const value = readJson(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

const take = async (id: string): Promise<Taken> => {
  const row = await request(id)
  const content = await requestContent(row.id)
  const last = content.calls.at(-1)?.body.text
  return {
    route: calledRoute(row),
    body: indented(content.request.text),
    upstream: last === undefined ? undefined : readable(readJson(last) ?? last),
    replayed: { row, answer: answerTextOf(content.answer?.text ?? "") }
  }
}

const OfRequest = ({ id }: { readonly id: string }) => {
  const { data, fault } = useQuery(id, () => take(id))
  if (fault.value !== "") return <p class="fault">{fault.value}</p>
  return data.value === undefined ? <Loading /> : <ExplainForm taken={data.value} />
}

/** The page `/explain`, or `/explain?request=ID`. */
export const Explain = () => {
  const id = place.value.query.get("request")
  return (
    <>
      <Title title="Explain and replay">
        {id === null ? null : <a href={href(`/requests/${encodeURIComponent(id)}`)}>The request</a>}
      </Title>
      <p class="muted">
        A dry run sends nothing and counts against no key. Sending calls the provider, and the typed key pays for it.
      </p>
      {id === null ? <ExplainForm /> : <OfRequest key={id} id={id} />}
    </>
  )
}
