// The content of a request on demand, for each read is in the log of changes; or how to have content kept.
// Must not know how bodies are shown.
import { useSignal } from "@preact/signals"
import type { RequestRow } from "../../AdminClient.ts"
import { messageOf } from "../../parts/Query.ts"
import { ExplainForm } from "../explain/ExplainForm.tsx"
import { Bodies } from "./Bodies.tsx"
import { type Content, content } from "./DetailClient.ts"

const NotKept = () => (
  <>
    <section class="card">
      <h2>Content</h2>
      <p>
        The content of this request is not kept. Set <code>log.content</code> to <code>errors</code> or <code>all</code>{" "}
        in the configuration, or <code>log_content</code> of its key; it is sealed, and leaves after{" "}
        <code>limits.contentMinutes</code>. Until then, paste the body here to see what the provider gets of it.
      </p>
    </section>
    <ExplainForm />
  </>
)

export const ContentCard = ({
  onRead,
  row
}: {
  readonly row: RequestRow
  readonly onRead: (content: Content) => void
}) => {
  const read = useSignal<Content | undefined>(undefined)
  const fault = useSignal("")
  if (row.has_content !== true) return <NotKept />
  if (read.value !== undefined) return <Bodies content={read.value} route={row.route} />
  const show = async (): Promise<void> => {
    try {
      read.value = await content(row.id)
      onRead(read.value)
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  return (
    <section class="card">
      <h2>Content</h2>
      <p>The bodies and the answer are kept. The log of changes names who reads them.</p>
      <button type="button" class="primary" onClick={() => void show()}>
        Show the content
      </button>
      <p class="fault" role="alert">
        {fault.value}
      </p>
    </section>
  )
}
