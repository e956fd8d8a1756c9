// Fields of forms with their labels: text, number, moment, choice, gateway key, code; and the buttons that save or remove.
// It must not know what the values are for.
import { signal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"

interface FieldProps {
  readonly label: string
  readonly name: string
  readonly value?: string | number | undefined
  readonly hint?: string
  readonly type?: "text" | "number" | "datetime-local"
  readonly isRequired?: boolean
}

export const Field = ({ hint = "", isRequired = false, label, name, type = "text", value = "" }: FieldProps) => {
  const shared = { name, defaultValue: String(value), placeholder: hint, required: isRequired }
  return (
    <label>
      {label}
      {type === "number" ? (
        <input {...shared} type="number" min="0" step="any" />
      ) : type === "text" ? (
        <input {...shared} spellcheck={false} autocomplete="off" />
      ) : (
        <input {...shared} type="datetime-local" />
      )}
    </label>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly name: string
  readonly value?: string | undefined
  readonly options: ReadonlyArray<readonly [value: string, text: string]>
}

export const Choice = ({ label, name, options, value = "" }: ChoiceProps) => (
  <label>
    {label}
    <select name={name} defaultValue={value}>
      {options.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

// The gateway key by which a page sends requests. It lives as long as the tab, and is written nowhere.

export const gatewayKey = signal("")

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

// A field for code with numbered lines, of which those with faults are marked.

interface CodeFieldProps {
  readonly label: string
  readonly text: string
  readonly isReadOnly: boolean
  /** Numbers of lines with faults, from 1. */
  readonly faulty: ReadonlySet<number>
  readonly change: (text: string) => void
}

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

// The buttons below an editor of a record: save, and remove where there is something to remove.

interface SaveButtonsProps {
  /** Declared in the configuration file. */
  readonly isFixed: boolean
  readonly save: string
  /** The word of the button that removes it; undefined for a new record. */
  readonly removal: string | undefined
  readonly remove: () => void
}

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
