// What pages are made of: title and fault, lists, facts, tiles, ranked lists, differences, media, and a button that copies.
// It must not know what the values mean.
import { useSignal } from "@preact/signals"
import { type ComponentChildren, Fragment } from "preact"
import type { DryRunAnswer } from "../AdminClient.ts"
import { count } from "../format.ts"
import { href } from "../Location.ts"
import { isPicture, type Media } from "../mediaIn.ts"
import { lineDiff, nearChanges } from "./lineDiff.ts"

interface TitleProps {
  readonly title: string
  /** The address and the name of the list that the page belongs to. */
  readonly back?: readonly [address: string, name: string]
  /** What is next to the title. */
  readonly children?: ComponentChildren
}

export const Title = ({ back, children, title }: TitleProps) => (
  <div class="title">
    {back === undefined ? null : (
      <a href={back[0]} aria-label={back[1]}>
        ←
      </a>
    )}
    <h1>{title}</h1>
    {children}
  </div>
)

/** Why something failed. It is there before, so that screen readers announce it. */
export const Fault = ({ isWhole = false, text }: { readonly text: string; readonly isWhole?: boolean }) => (
  <p class={isWhole ? "fault whole" : "fault"} role="alert">
    {text}
  </p>
)

interface PageProps extends Omit<TitleProps, "children"> {
  readonly fault: string
  readonly side?: ComponentChildren
  readonly children: ComponentChildren
}

export const Page = ({ children, fault, side, ...title }: PageProps) => (
  <>
    <Title {...title}>{side}</Title>
    <Fault text={fault} />
    {children}
  </>
)

interface CardProps {
  readonly title: string
  readonly class?: string
  readonly children: ComponentChildren
}

export const Card = ({ children, class: name, title }: CardProps) => (
  <section class={name === undefined ? "card" : `card ${name}`}>
    <h2>{title}</h2>
    {children}
  </section>
)

export const Loading = () => <p class="muted">Loading …</p>

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
  /** The cells are headings of their rows. */
  readonly isHeading?: boolean
  readonly class?: string
}

export const Headings = ({
  columns
}: {
  readonly columns: ReadonlyArray<{ readonly name: string; readonly isNumber?: boolean }>
}) => (
  <thead>
    <tr>
      {columns.map(({ isNumber, name }) => (
        <th key={name} scope="col" class={isNumber === true ? "number" : ""}>
          {name}
        </th>
      ))}
    </tr>
  </thead>
)

interface ListProps<Row> {
  /** What the list is of, for screen readers. */
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  readonly classOf?: (row: Row) => string
  /** Rows below the others. */
  readonly children?: ComponentChildren
}

/** A table of one row an entry, which scrolls sideways where the screen is narrow. */
export const List = <Row,>({ children, classOf, columns, keyOf, label, rows }: ListProps<Row>) => (
  <div class="wide" tabIndex={0} role="region" aria-label={label}>
    <table class="list">
      <Headings columns={columns} />
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} class={classOf?.(row) ?? ""}>
            {columns.map(({ cell, class: name = "", isHeading, isNumber, name: key }) =>
              isHeading === true ? (
                <th key={key} scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={key} class={isNumber === true ? "number" : name}>
                  {cell(row)}
                </td>
              )
            )}
          </tr>
        ))}
        {children}
      </tbody>
    </table>
  </div>
)

interface EntriesProps {
  readonly path: string
  readonly rows: ReadonlyArray<readonly [id: string, note: string]>
  /** What is shown without any row. */
  readonly none: string
}

/** A list of records by their ids, each with a note. */
export const Entries = ({ none, path, rows }: EntriesProps) =>
  rows.length === 0 ? (
    <p class="card">{none}</p>
  ) : (
    <ul class="card plain entries">
      {rows.map(([id, note]) => (
        <li key={id}>
          <a href={href(path, { id })}>{id}</a> <span class="muted">{note}</span>
        </li>
      ))}
    </ul>
  )

interface FactsProps {
  readonly rows: ReadonlyArray<readonly [name: string, value: ComponentChildren]>
  readonly class?: string
}

/** Names with their values. */
export const Facts = ({ class: name = "", rows }: FactsProps) => (
  <dl class={name}>
    {rows.map(([fact, value]) => (
      <Fragment key={fact}>
        <dt>{fact}</dt>
        <dd>{value}</dd>
      </Fragment>
    ))}
  </dl>
)

/** An HTTP status with the color of its class. */
const statusColor = (code: number): string => (code < 400 ? "good" : code < 500 ? "warn" : "bad")

export const Status = ({ code }: { readonly code: number }) => <span class={`status ${statusColor(code)}`}>{code}</span>

interface TileProps {
  readonly name: string
  readonly value: string
  readonly delta?: string | undefined
}

/** One number with its name, and its change against the range before. */
export const Tile = ({ delta, name, value }: TileProps) => (
  <div class="card tile">
    <dt>{name}</dt>
    <dd>
      <b>{value}</b>
      {delta === undefined ? null : <span title="Against the range before">{delta}</span>}
    </dd>
  </div>
)

interface TopProps {
  readonly title: string
  readonly rows: ReadonlyArray<readonly [name: string, value: number]>
  readonly print: (value: number) => string
  readonly filter?: "model" | "key"
}

/** A short list of names with the highest values first; a name may lead to its requests. */
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

interface DifferenceProps {
  readonly after: string
  readonly before: string
  /** Leaves out lines that are far from a change. */
  readonly isShort?: boolean
}

const lineElements = { same: "span", gone: "del", new: "ins" } as const

/** A text with the lines marked that it has or lacks against another text. */
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

/** Media as thumbnails where browsers show them, else as their type and size. */
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

/** A button that copies a text, and states that it did. */
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

const namesText = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))

/** The parameters that a dry run ignored or changed. */
export const DryRunChanges = ({ got }: { readonly got: DryRunAnswer }) => (
  <>
    Ignored: {namesText(got.ignored_params)}. Changed: {namesText(got.adjusted_params)}.
  </>
)
