// The filters of the list of requests as a form; each change is an address.
// Must not know the list.
import { useLayoutEffect, useRef } from "preact/hooks"
import { href, navigate } from "../../Location.ts"
import {
  type FilterField,
  hasMore,
  mainFilters,
  metadataText,
  moreFilters,
  type Query,
  withMetadata
} from "./filterQuery.ts"

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly hint?: string | undefined
  /** True: the key `/` leads here. */
  readonly isFirst?: boolean
  readonly change: (text: string) => void
}

/** Shows another value when the address has one. Rows that arrive draw the page again, which leaves a half typed text. */
const TextField = ({ change, hint, isFirst = false, label, value }: TextFieldProps) => {
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (input.current !== null) input.current.value = value
  }, [value])
  return (
    <label>
      {label}
      <input
        ref={input}
        {...(isFirst ? { "data-search": true } : {})}
        placeholder={hint ?? ""}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => change(event.currentTarget.value)}
      />
    </label>
  )
}

interface FieldProps {
  readonly field: FilterField
  readonly query: Query
  readonly isFirst?: boolean
}

const Field = ({ field: { hint, label, name }, isFirst = false, query }: FieldProps) => (
  <TextField
    label={label}
    value={query[name] ?? ""}
    hint={hint}
    isFirst={isFirst}
    change={(text) => navigate(href("/requests", { ...query, [name]: text.trim() }))}
  />
)

export const Filters = ({ query }: { readonly query: Query }) => (
  <div class="filters" role="search" aria-label="Filters of requests">
    {mainFilters.map((field, index) => (
      <Field key={field.name} field={field} query={query} isFirst={index === 0} />
    ))}
    <details class="more" open={hasMore(query)}>
      <summary>More filters</summary>
      <div class="filters">
        {moreFilters.map((field) => (
          <Field key={field.name} field={field} query={query} />
        ))}
        <TextField
          label="Metadata"
          value={metadataText(query)}
          hint="team=red"
          change={(text) => navigate(href("/requests", withMetadata(query, text)))}
        />
      </div>
    </details>
    {Object.keys(query).length === 0 ? null : (
      <a class="clear" href={href("/requests")}>
        Clear filters
      </a>
    )}
  </div>
)
