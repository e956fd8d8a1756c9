// The kept content of a request: what the client sent next to what each upstream got, and the answer.
// Must not know how content is kept.
import { count } from "../../format.ts"
import { readJson } from "../../readJson.ts"
import type { Content } from "./DetailClient.ts"
import { mediaIn, readable } from "../../mediaIn.ts"
import { Thumbnails } from "../../parts/Thumbnails.tsx"
import { type Rating, readAnswer } from "./readAnswer.ts"

type Text = Content["request"]

const Shown = ({ label, text }: { readonly label: string; readonly text: Text }) => {
  const value = text.is_cut ? undefined : readJson(text.text)
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={label}>
        {value === undefined ? text.text : readable(value)}
      </pre>
      <Thumbnails media={mediaIn(value)} />
      <p class="muted">
        {count(text.bytes)} bytes{text.is_cut ? ", of which the beginning is kept (limits.contentBytes)" : ""}
      </p>
    </>
  )
}

const named = (words: string, names: ReadonlyArray<string>): string =>
  names.length === 0 ? "" : `${words}: ${names.join(", ")}.`

const Call = ({ call, position }: { readonly call: Content["calls"][number]; readonly position: string }) => (
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
      <dl class="facts">
        {ratings.map(({ category, isBlocked, probability }) => (
          <>
            <dt key={category}>{category}</dt>
            <dd class={isBlocked ? "bad" : ""}>
              {probability}
              {isBlocked ? ", blocked" : ""}
            </dd>
          </>
        ))}
      </dl>
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
      <p class="muted">
        {count(answer.bytes)} bytes{answer.is_cut ? ", of which the beginning is kept (limits.contentBytes)" : ""}
      </p>
    </section>
  )
}

export const Bodies = ({ content, route }: { readonly content: Content; readonly route: string }) => (
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
