// The form that makes or changes a gateway key, and the button that revokes one.
// It must not know what becomes of the values.
import { useSignal } from "@preact/signals"
import { type KeyRow, revokeKey } from "../../AdminClient.ts"
import { Choice, Field } from "../../parts/Fields.tsx"
import { messageOf } from "../../parts/Query.ts"
import { keyBody, localMoment } from "./keyBody.ts"

interface KeyFormProps {
  readonly title: string
  readonly button: string
  readonly row?: KeyRow | undefined
  readonly configs: ReadonlyArray<string>
  readonly send: (body: ReturnType<typeof keyBody>) => Promise<void>
}

type Fields = Partial<KeyRow>

const LimitFields = ({ concurrency, rate_limit: limit }: Fields) => (
  <>
    <Field label="Requests a minute" name="requests_per_minute" type="number" value={limit?.requests_per_minute} />
    <Field
      label="Burst of requests"
      name="requests_burst"
      type="number"
      hint="a tenth of the limit"
      value={limit?.requests_burst}
    />
    <Field label="Tokens a minute" name="tokens_per_minute" type="number" value={limit?.tokens_per_minute} />
    <Field
      label="Burst of tokens"
      name="tokens_burst"
      type="number"
      hint="a tenth of the limit"
      value={limit?.tokens_burst}
    />
    <Field label="Requests at a time" name="concurrency" type="number" hint="its fair share" value={concurrency} />
  </>
)

const BudgetFields = ({ budget }: Fields) => (
  <>
    <Field label="Budget in US dollars" name="budget" type="number" hint="none" value={budget?.usd} />
    <Choice
      label="Budget for each"
      name="per"
      value={budget?.per ?? "month"}
      options={[
        ["month", "month of UTC"],
        ["day", "day of UTC"]
      ]}
    />
  </>
)

const OtherFields = ({ configs, row }: Pick<KeyFormProps, "configs" | "row">) => (
  <>
    <Field label="Expires" name="expires_at" type="datetime-local" value={localMoment(row?.expires_at)} />
    <Choice
      label="Config"
      name="config"
      value={row?.config}
      options={[["", "none"], ...configs.map((id) => [id, id] as const)]}
    />
    <Choice
      label="Keep bodies and answers"
      name="log_content"
      value={row?.log_content}
      options={[
        ["", "as log.content is set"],
        ["off", "off: of no request"],
        ["errors", "errors: of failed requests"],
        ["all", "all: of every request"]
      ]}
    />
  </>
)

export const KeyForm = ({ button, configs, row, send, title }: KeyFormProps) => {
  const fault = useSignal("")
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget
    const fields = new FormData(form)
    fault.value = ""
    try {
      await send(keyBody((name) => String(fields.get(name) ?? "")))
      if (row === undefined) form.reset()
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  return (
    <form class="card form" onSubmit={(event) => void submit(event)}>
      <h2>{title}</h2>
      <Field label="Name" name="name" value={row?.name} isRequired />
      <Choice
        label="Scope"
        name="scope"
        value={row?.scopes?.includes("admin") === true ? "admin" : "inference"}
        options={[
          ["inference", "inference: calls models"],
          ["admin", "admin: sees and changes the gateway"]
        ]}
      />
      <Field label="Providers" name="providers" hint="all, or google, vertex-ai" value={row?.providers?.join(", ")} />
      <Field label="Models" name="models" hint="all, or gemini-*, claude-*" value={row?.models?.join(", ")} />
      <LimitFields {...row} />
      <BudgetFields {...row} />
      <OtherFields row={row} configs={configs} />
      <p class="fault whole" role="alert">
        {fault.value}
      </p>
      <button type="submit" class="primary">
        {button}
      </button>
    </form>
  )
}

// The button that revokes a key. It asks once more before it does.

interface RevokeProps {
  readonly id: string
  readonly done: () => void
}

export const Revoke = ({ done, id }: RevokeProps) => {
  const asks = useSignal(false)
  const fault = useSignal("")
  const revoke = async (): Promise<void> => {
    asks.value = false
    try {
      await revokeKey(id)
      done()
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  if (!asks.value)
    return (
      <>
        <button type="button" class="danger" onClick={() => (asks.value = true)}>
          Revoke
        </button>
        <span class="fault" role="alert">
          {fault.value}
        </span>
      </>
    )
  return (
    <>
      <button type="button" class="danger" onClick={() => void revoke()}>
        Refuse this key now
      </button>
      <button type="button" onClick={() => (asks.value = false)}>
        Cancel
      </button>
    </>
  )
}
