// The page that explains a body, or a request whose content is kept: `/explain?request=ID`.
// Must not know how a body is explained.
import * as client from "../../AdminClient.ts"
import { href, place } from "../../Location.ts"
import { useQuery } from "../../parts/Query.ts"
import { readJson } from "../../readJson.ts"
import { calledRoute } from "../requests/calledRoute.ts"
import { content } from "../requests/DetailClient.ts"
import { readable } from "../../mediaIn.ts"
import { ExplainForm, type Taken } from "./ExplainForm.tsx"
import { answerTextOf } from "./Replay.ts"

/** Whole bodies are sent again as they are; their media stay in them. */
const indented = (text: string): string => {
  const value = readJson(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

const take = async (id: string): Promise<Taken> => {
  const row = await client.request(id)
  const kept = await content(row.id)
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
