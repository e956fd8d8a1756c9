// Fields of a form: a text, a number, a moment, or a choice, each with its label.
// Must not know what the values are for.

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
