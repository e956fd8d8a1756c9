// The content of a request on demand, for each read is in the log of changes: what the client sent, what upstreams got, the answer.
// It must not know how content is kept.
import { useSignal } from "@preact/signals"
import { type RequestContent, requestContent, type RequestRow } from "../../AdminClient.ts"
import { count } from "../../format.ts"
import { mediaIn, readable } from "../../mediaIn.ts"
import { Card, Facts, Fault, Thumbnails } from "../../parts/Display.tsx"
import { useAction } from "../../parts/Query.ts"
import { readJson } from "../../readJson.ts"
import { ExplainForm } from "../Explain.tsx"
import { type Rating, readAnswer } from "./readAnswer.ts"

type Text = RequestContent["request"]

const Size = ({ text: { bytes, is_cut: isCut } }: { readonly text: Text }) => (
  <p class="muted">
    {count(bytes)} bytes{isCut ? ", of which the beginning is kept (limits.contentBytes)" : ""}
  </p>
)

const Shown = ({ label, text }: { readonly label: string; readonly text: Text }) => {
  const value = text.is_cut ? undefined : readJson(text.text)
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={label}>
        {value === undefined ? text.text : readable(value)}
      </pre>
      <Thumbnails media={mediaIn(value)} />
      <Size text={text} />
    </>
  )
}

const named = (words: string, names: ReadonlyArray<string>): string =>
  names.length === 0 ? "" : `${words}: ${names.join(", ")}.`

const Call = ({ call, position }: { readonly call: RequestContent["calls"][number]; readonly position: string }) => (
  <section class="card">
    <h3>
      {call.provider} got{position}
    </h3>
    <p class="address">{call.url}</p>
    <Shown label={`Body for ${call.provider}`} text={call.body} />
    {[named("Ignored", call.ignored_params), named("Changed", call.adjusted_params)].map((text) =>
      text === "" ? null : <p key={text}>{text}</p>
    )}
  </section>
)

const Ratings = ({ ratings }: { readonly ratings: ReadonlyArray<Rating> }) =>
  ratings.length === 0 ? null : (
    <>
      <h3>Safety ratings</h3>
      <Facts
        class="facts"
        rows={ratings.map(({ category, isBlocked, probability }) => [
          category,
          <span class={isBlocked ? "bad" : ""}>
            {probability}
            {isBlocked ? ", blocked" : ""}
          </span>
        ])}
      />
    </>
  )

const Answer = ({ answer }: { readonly answer: Text }) => {
  const { events, isStream, ratings, text, thoughts } = readAnswer(answer.text)
  const shown = events.map((event) => (typeof event === "string" ? event : readable(event)))
  return (
    <section class="card whole">
      <h3>The client got</h3>
      {thoughts === "" ? null : (
        <details>
          <summary>Thoughts</summary>
          <p class="answer muted">{thoughts}</p>
        </details>
      )}
      {text === "" ? null : <p class="answer">{text}</p>}
      <Thumbnails media={events.flatMap(mediaIn)} />
      <Ratings ratings={ratings} />
      <details open={text === ""}>
        <summary>{isStream ? `${count(events.length)} events` : "Body"}</summary>
        <pre tabIndex={0} role="region" aria-label="Answer">
          {shown.join("\n")}
        </pre>
      </details>
      <Size text={answer} />
    </section>
  )
}

/** What the client sent next to what each upstream got, and the answer. */
const Bodies = ({ content, route }: { readonly content: RequestContent; readonly route: string }) => (
  <div class="columns pair">
    <section class="card">
      <h3>The client sent</h3>
      <p class="address">{route}</p>
      <Shown label="Body of the client" text={content.request} />
    </section>
    {content.calls.map((call, at) => (
      <Call key={at} call={call} position={content.calls.length === 1 ? "" : ` (call ${at + 1})`} />
    ))}
    {content.answer === undefined ? null : <Answer answer={content.answer} />}
  </div>
)

const NotKept = () => (
  <>
    <Card title="Content">
      <p>
        The content of this request is not kept. Set <code>log.content</code> to <code>errors</code> or <code>all</code>{" "}
        in the configuration, or <code>log_content</code> of its key; it is sealed, and leaves after{" "}
        <code>limits.contentMinutes</code>. Until then, paste the body here to see what the provider gets of it.
      </p>
    </Card>
    <ExplainForm />
  </>
)

export const ContentCard = ({
  onRead,
  row
}: {
  readonly row: RequestRow
  readonly onRead: (content: RequestContent) => void
}) => {
  const read = useSignal<RequestContent | undefined>(undefined)
  const { fault, run } = useAction()
  if (row.has_content !== true) return <NotKept />
  if (read.value !== undefined) return <Bodies content={read.value} route={row.route} />
  const show = async (): Promise<void> => {
    read.value = await requestContent(row.id)
    onRead(read.value)
  }
  return (
    <Card title="Content">
      <p>The bodies and the answer are kept. The log of changes names who reads them.</p>
      <button type="button" class="primary" onClick={() => void run(show)}>
        Show the content
      </button>
      <Fault text={fault.value} />
    </Card>
  )
}
