// What pages show values by: tables, states, tiles, ranked lists, differences, media, and a button that copies.
// It must not know what the values mean.
import type { ComponentChildren } from "preact"
import { href } from "../Location.ts"
import { lineDiff, nearChanges } from "./lineDiff.ts"
import { count } from "../format.ts"
import { isPicture, type Media } from "../mediaIn.ts"
import { useSignal } from "@preact/signals"

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

// An HTTP status with the color of its class.

const statusColor = (code: number): string => (code < 400 ? "good" : code < 500 ? "warn" : "bad")

export const Status = ({ code }: { readonly code: number }) => <span class={`status ${statusColor(code)}`}>{code}</span>

// One number with its name, and its change against the range before.

interface TileProps {
  readonly name: string
  readonly value: string
  readonly delta?: string | undefined
}

export const Tile = ({ delta, name, value }: TileProps) => (
  <div class="card tile">
    <dt>{name}</dt>
    <dd>
      <b>{value}</b>
      {delta === undefined ? null : <span title="Against the range before">{delta}</span>}
    </dd>
  </div>
)

// A short list of names with the highest values first; a name may lead to its requests.

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

// A text with the lines marked that it has or lacks against another text.

interface DifferenceProps {
  readonly after: string
  readonly before: string
  /** Leaves out lines that are far from a change. */
  readonly isShort?: boolean
}

const lineElements = { same: "span", gone: "del", new: "ins" } as const

export const Difference = ({ after, before, isShort = false }: DifferenceProps) => {
  const lines = lineDiff(before, after)
  return (
    <pre class="difference" aria-label="Difference">
      {(isShort ? nearChanges(lines) : lines).map(({ kind, text }, at) => {
        const Line = lineElements[kind]
        return <Line key={at}>{`${text}\n`}</Line>
      })}
    </pre>
  )
}

// Media as thumbnails where browsers show them, else as their type and size.

export const Thumbnails = ({ media }: { readonly media: ReadonlyArray<Media> }) =>
  media.length === 0 ? null : (
    <ul class="media">
      {media.map((one, at) => (
        <li key={at}>
          {isPicture(one) ? <img src={`data:${one.type};base64,${one.data}`} alt={`Picture ${at + 1}`} /> : null}
          <span class="muted">
            {one.type}, {count(Math.floor((one.data.length * 3) / 4))} bytes
          </span>
        </li>
      ))}
    </ul>
  )

// A button that copies a text, and states that it did.

export const Copy = ({ name, text }: { readonly name: string; readonly text: string }) => {
  const isCopied = useSignal(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    isCopied.value = true
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {isCopied.value ? "Copied" : name}
    </button>
  )
}
