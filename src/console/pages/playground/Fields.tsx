// The fields of the playground: models, tools, the form of the answer, and every parameter.
// Must not know what is made of them.
import { signal } from "@preact/signals"
import { gatewayKey, KeyField } from "../../parts/KeyField.tsx"
import * as chat from "./ChatClient.ts"
import { parameterKinds, type ParameterKind } from "./chatBody.ts"
import { sampleSchema, sampleTools } from "./samples.ts"

const models = signal<ReadonlyArray<string>>([])
const fault = signal("")

const loadModels = async (): Promise<void> => {
  fault.value = ""
  try {
    models.value = await chat.models(gatewayKey.value)
  } catch (error) {
    models.value = []
    fault.value = error instanceof Error ? error.message : String(error)
  }
}

const Models = () => (
  <>
    <KeyField isRequired onChosen={() => void loadModels()} />
    <label>
      Model
      <input name="model" list="models" required spellcheck={false} placeholder="@google/gemini-3.8-flash" />
    </label>
    <label>
      Compare with
      <input name="second" list="models" spellcheck={false} placeholder="no second one" />
    </label>
    <datalist id="models">
      {models.value.map((id) => (
        <option key={id} value={id} />
      ))}
    </datalist>
  </>
)

const Usual = () => (
  <>
    <label>
      Temperature
      <input name="temperature" type="number" min="0" max="2" step="0.1" />
    </label>
    <label>
      Most tokens out
      <input name="max_tokens" type="number" min="1" step="1" />
    </label>
    <label>
      Reasoning effort
      <select name="reasoning_effort">
        <option value="">default</option>
        {["none", "minimal", "low", "medium", "high", "xhigh", "max"].map((effort) => (
          <option key={effort}>{effort}</option>
        ))}
      </select>
    </label>
    <label class="whole">
      System prompt
      <textarea name="system" rows={2} />
    </label>
  </>
)

const fill = (name: string, text: string) => (event: MouseEvent & { currentTarget: HTMLButtonElement }) => {
  const field = event.currentTarget.form?.elements.namedItem(name)
  if (field instanceof HTMLTextAreaElement) field.value = text
}

const Tools = () => (
  <details class="whole">
    <summary>Tools and the form of the answer</summary>
    <div class="form">
      <label class="whole">
        Tools as JSON
        <textarea name="tools" class="code" rows={4} spellcheck={false} />
      </label>
      <button type="button" onClick={fill("tools", sampleTools)}>
        Sample tool
      </button>
      <label>
        Form of the answer
        <select name="format">
          <option value="">text</option>
          <option value="json_object">any JSON object</option>
          <option value="json_schema">JSON by a schema</option>
        </select>
      </label>
      <label class="whole">
        Schema of the answer
        <textarea name="schema" class="code" rows={4} spellcheck={false} />
      </label>
      <button type="button" onClick={fill("schema", sampleSchema)}>
        Sample schema
      </button>
    </div>
  </details>
)

const hints: Readonly<Record<ParameterKind, string>> = { number: "number", flag: "", text: "text", json: "JSON" }

const Parameter = ({ kind, name }: { readonly name: string; readonly kind: ParameterKind }) => (
  <label>
    {name}
    {kind === "flag" ? (
      <select name={name}>
        <option value="">default</option>
        <option>true</option>
        <option>false</option>
      </select>
    ) : (
      <input
        name={name}
        {...(kind === "number" ? { type: "number", step: "any" } : {})}
        placeholder={hints[kind]}
        spellcheck={false}
      />
    )}
  </label>
)

const Further = () => (
  <details class="whole">
    <summary>All parameters</summary>
    <p class="muted">
      Their meaning for each kind of model is on the page{" "}
      <a href="/docs/parameters" target="_blank" rel="noreferrer">
        Parameters
      </a>
      . Empty fields are not sent.
    </p>
    <div class="form">
      {Object.entries(parameterKinds).map(([name, kind]) => (
        <Parameter key={name} name={name} kind={kind} />
      ))}
    </div>
  </details>
)

export const Fields = () => (
  <>
    <Models />
    <p class="fault whole">{fault.value}</p>
    <Usual />
    <Tools />
    <Further />
  </>
)
