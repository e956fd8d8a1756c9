// Tries a config with a request: which target takes it, how often, and why.
// Must not know how targets are chosen; the gateway decides.
import { useSignal } from "@preact/signals"
import type { ConfigCheck } from "../../../api/admin/ConfigCheck.ts"
import type { KeyRow } from "../../AdminClient.ts"
import { percent } from "../../format.ts"
import { Choice, Field } from "../../parts/Field.tsx"
import { List } from "../../parts/List.tsx"
import { readJson } from "../../readJson.ts"
import type { TriedRequest } from "./ConfigCalls.ts"

/** `tier=free, team=a` as an object. */
const pairsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(",")
      .filter((one) => one.trim() !== "")
      .map((one) => {
        const at = one.indexOf("=")
        return at < 0 ? [one.trim(), ""] : [one.slice(0, at).trim(), one.slice(at + 1).trim()]
      })
  )

const words = { first: "first", failure: "after a failure", never: "never" } as const
const headings = ["Node", "Goes to", "Called", "Share", "Why"]

const Plan = ({ plan = [], refused }: Pick<ConfigCheck, "plan" | "refused">) => {
  if (refused !== undefined)
    return (
      <p class="bad" role="status">
        The request is refused: {refused.message}
      </p>
    )
  if (plan.length === 0) return null
  return (
    <List label="Where the request goes" headings={headings} numbers={new Set(["Share"])}>
      {plan.map(({ mode, model, path, provider, reached, share, why }) => (
        <tr key={path} class={reached === "never" ? "muted" : ""}>
          <td>{path.replace(/^config\.?/, "") || "config"}</td>
          <td class="break">{provider === undefined ? mode : `${provider} / ${model}`}</td>
          <td class={reached === "first" ? "good" : ""}>{words[reached]}</td>
          <td class="number">{percent(share)}</td>
          <td class="break">{why}</td>
        </tr>
      ))}
    </List>
  )
}

interface SimulatorProps {
  readonly keys: ReadonlyArray<KeyRow>
  readonly check: ConfigCheck | undefined
  readonly simulate: (request: TriedRequest) => void
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const Simulator = ({ check, keys, simulate }: SimulatorProps) => {
  const fault = useSignal("")
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const text = (name: string): string => String(fields.get(name) ?? "").trim()
    const body = readJson(text("more") || "{}")
    fault.value = isObject(body) ? "" : "The fields are not a JSON object."
    if (!isObject(body)) return
    const key = text("key")
    const model = text("model")
    simulate({
      ...(key === "" ? {} : { key }),
      metadata: pairsOf(text("metadata")),
      body: { ...(model === "" ? {} : { model }), ...body }
    })
  }
  return (
    <section class="card stack">
      <form class="form plain-form" onSubmit={submit}>
        <h2>Simulate a request</h2>
        <Field label="Model" name="model" value="gemini-3.8-flash" />
        <Choice label="Key" name="key" options={[["", "any"], ...keys.map(({ id, name }) => [id, name] as const)]} />
        <Field label="Metadata" name="metadata" hint="tier=free, team=a" />
        <Field label="More fields as JSON" name="more" hint='{ "max_tokens": 2000 }' />
        <button type="submit">Simulate</button>
      </form>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      <Plan {...(check ?? {})} />
      <p class="note">Nothing is sent. Weights are shown as shares; open circuits are not counted.</p>
    </section>
  )
}
