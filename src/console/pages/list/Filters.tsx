// The filters of the list of requests as a form; each change is an address.
// Must not know the list.
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

interface FieldProps {
  readonly field: FilterField
  readonly query: Query
  /** True: the key `/` leads here. */
  readonly isFirst?: boolean
}

const Field = ({ field: { hint, label, name }, isFirst = false, query }: FieldProps) => (
  <label>
    {label}
    <input
      {...(isFirst ? { "data-search": true } : {})}
      value={query[name] ?? ""}
      placeholder={hint ?? ""}
      spellcheck={false}
      autocomplete="off"
      onChange={(event) => navigate(href("/requests", { ...query, [name]: event.currentTarget.value.trim() }))}
    />
  </label>
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
        <label>
          Metadata
          <input
            value={metadataText(query)}
            placeholder="team=red"
            spellcheck={false}
            onChange={(event) => navigate(href("/requests", withMetadata(query, event.currentTarget.value)))}
          />
        </label>
      </div>
    </details>
    {Object.keys(query).length === 0 ? null : (
      <a class="clear" href={href("/requests")}>
        Clear filters
      </a>
    )}
  </div>
)
