// A short list of names with the highest values first; a name may lead to its requests.
// Must not know what the values are.
import { href } from "../Location.ts"

interface TopProps {
  readonly title: string
  readonly rows: ReadonlyArray<readonly [name: string, value: number]>
  readonly print: (value: number) => string
  readonly filter?: "model" | "key"
}

export const Top = ({ filter, print, rows, title }: TopProps) => (
  <section class="card">
    <h2>{title}</h2>
    {rows.length === 0 ? <p class="muted">None in this range.</p> : null}
    <ol class="top">
      {rows.map(([name, value]) => (
        <li key={name}>
          {filter === undefined ? <span>{name}</span> : <a href={href("/requests", { [filter]: name })}>{name}</a>}
          <b>{print(value)}</b>
        </li>
      ))}
    </ol>
  </section>
)
