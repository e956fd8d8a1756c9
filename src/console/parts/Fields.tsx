// Fields of forms with their labels, and what reads a form when it is submitted.
// It must not know what the values are for.
import { useEffect, useRef } from "preact/hooks"
import { gatewayKey } from "../GatewayCalls.ts"

/** Reads a field of a form by its name, without blanks around it. */
export type FieldText = (name: string) => string

type Submit = SubmitEvent & { currentTarget: HTMLFormElement }

export const fieldText = (form: HTMLFormElement): FieldText => {
  const fields = new FormData(form)
  return (name) => String(fields.get(name) ?? "").trim()
}

/** The listener of a form that is submitted; `button` is the value of the button that submits it. */
export const onSubmit =
  (use: (text: FieldText, form: HTMLFormElement, button: string) => Promise<void> | void) =>
  (event: Submit): void => {
    event.preventDefault()
    const form = event.currentTarget
    void use(fieldText(form), form, event.submitter?.getAttribute("value") ?? "")
  }

interface FieldProps {
  readonly label: string
  readonly name?: string
  readonly value?: string | number | undefined
  readonly hint?: string | undefined
  readonly type?: "text" | "number" | "datetime-local" | "password"
  /** Of a number. */
  readonly range?: { readonly min?: string; readonly max?: string; readonly step?: string }
  readonly isRequired?: boolean
  /** The id of a list of proposals. */
  readonly list?: string
  /** The key `/` leads here. */
  readonly isSearch?: boolean
  /** Takes the text while it is typed. Without it the form reads the field when it is submitted. */
  readonly change?: (text: string) => void
}

const anyAmount = { min: "0", step: "any" }

export const Field = ({ change, label, type = "text", value = "", ...more }: FieldProps) => {
  const { hint = "", isRequired = false, isSearch = false, list, name, range = anyAmount } = more
  const shared = {
    placeholder: hint,
    required: isRequired,
    ...(name === undefined ? {} : { name }),
    ...(list === undefined ? {} : { list }),
    ...(isSearch ? { "data-search": true } : {}),
    ...(change === undefined
      ? { defaultValue: String(value) }
      : {
          value,
          onInput: (event: InputEvent & { currentTarget: HTMLInputElement }) => change(event.currentTarget.value.trim())
        })
  }
  return (
    <label>
      {label}
      {type === "number" ? (
        <input {...shared} {...range} type="number" />
      ) : type === "datetime-local" ? (
        <input {...shared} type="datetime-local" />
      ) : type === "password" ? (
        <input {...shared} type="password" autocomplete="off" />
      ) : (
        <input {...shared} type="text" spellcheck={false} autocomplete="off" />
      )}
    </label>
  )
}

interface AreaProps {
  readonly label: string
  readonly name: string
  readonly rows: number
  readonly value?: string | undefined
  /** Code has letters of one width and no spelling. */
  readonly isCode?: boolean
  readonly isRequired?: boolean
}

export const Area = ({ isCode = false, isRequired = false, label, name, rows, value = "" }: AreaProps) => (
  <label class="whole">
    {label}
    <textarea
      name={name}
      rows={rows}
      required={isRequired}
      defaultValue={value}
      {...(isCode ? { class: "code", spellcheck: false } : {})}
    />
  </label>
)

export type Options = ReadonlyArray<readonly [value: string, text: string]>

interface ChoiceProps {
  readonly label: string
  readonly name?: string
  readonly value?: string | undefined
  readonly options: Options
  /** The key `/` leads here. */
  readonly isSearch?: boolean
  /** Takes the value when it is chosen. Without it the form reads the field when it is submitted. */
  readonly change?: (value: string) => void
}

export const Choice = ({ change, isSearch = false, label, name, options, value = "" }: ChoiceProps) => {
  const shared = {
    ...(name === undefined ? {} : { name }),
    ...(isSearch ? { "data-search": true } : {}),
    ...(change === undefined
      ? { defaultValue: value }
      : {
          value,
          onChange: (event: Event & { currentTarget: HTMLSelectElement }) => change(event.currentTarget.value)
        })
  }
  return (
    <label>
      {label}
      <select {...shared}>
        {options.map(([one, text]) => (
          <option key={one} value={one} selected={one === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface CheckProps {
  readonly label: string
  readonly isChecked: boolean
  readonly change: (isChecked: boolean) => void
}

export const Check = ({ change, isChecked, label }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={isChecked} onChange={(event) => change(event.currentTarget.checked)} />
    {label}
  </label>
)

/** The gateway key by which a page sends requests. */
export const KeyField = ({
  isRequired = false,
  onChosen
}: {
  readonly isRequired?: boolean
  readonly onChosen?: () => void
}) => (
  <label>
    Gateway key
    <input
      type="password"
      required={isRequired}
      autocomplete="off"
      value={gatewayKey.value}
      onChange={(event) => {
        gatewayKey.value = event.currentTarget.value.trim()
        onChosen?.()
      }}
    />
  </label>
)

interface CodeFieldProps {
  readonly label: string
  readonly text: string
  readonly isReadOnly: boolean
  /** Numbers of lines with faults, from 1. */
  readonly faulty: ReadonlySet<number>
  readonly change: (text: string) => void
}

/** A field for code with numbered lines, of which those with faults are marked. */
export const CodeField = ({ change, faulty, isReadOnly, label, text }: CodeFieldProps) => {
  const gutter = useRef<HTMLDivElement>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const follow = (): void => {
    if (gutter.current !== null && area.current !== null) gutter.current.scrollTop = area.current.scrollTop
  }
  useEffect(follow)
  const lines = text.split("\n").length
  return (
    <div class="whole">
      <label>
        {label}
        <span class="editor">
          <span class="gutter" ref={gutter} aria-hidden="true">
            {Array.from({ length: lines }, (_, index) => (
              <span key={index} class={faulty.has(index + 1) ? "bad" : ""}>
                {index + 1}
              </span>
            ))}
          </span>
          <textarea
            class="code"
            ref={area}
            rows={Math.min(Math.max(lines + 1, 14), 32)}
            wrap="off"
            spellcheck={false}
            readOnly={isReadOnly}
            value={text}
            onScroll={follow}
            onInput={(event) => change(event.currentTarget.value)}
          />
        </span>
      </label>
    </div>
  )
}

interface SaveButtonsProps {
  /** Declared in the configuration file. */
  readonly isFixed: boolean
  readonly save: string
  /** The word of the button that removes it; undefined for a new record. */
  readonly removal: string | undefined
  readonly remove: () => void
}

/** The buttons below an editor of a record: save, and remove where there is something to remove. */
export const SaveButtons = ({ isFixed, removal, remove, save }: SaveButtonsProps) =>
  isFixed ? (
    <p class="muted whole">It is declared in the configuration file, so it is changed there.</p>
  ) : (
    <>
      <button type="submit" class="primary">
        {save}
      </button>
      {removal === undefined ? null : (
        <button type="button" class="danger" onClick={remove}>
          {removal}
        </button>
      )}
    </>
  )
