// A table of one row an entry, which scrolls sideways where the screen is narrow.
// Must not know what the rows are.
import type { ComponentChildren } from "preact"

interface ListProps {
  /** What the list is of, for screen readers. */
  readonly label: string
  readonly headings: ReadonlyArray<string>
  /** Headings of columns of numbers. */
  readonly numbers?: ReadonlySet<string>
  /** The rows. */
  readonly children: ComponentChildren
}

export const List = ({ children, headings, label, numbers }: ListProps) => (
  <div class="wide" tabIndex={0} role="region" aria-label={label}>
    <table class="list">
      <thead>
        <tr>
          {headings.map((name) => (
            <th key={name} scope="col" class={numbers?.has(name) === true ? "number" : ""}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
