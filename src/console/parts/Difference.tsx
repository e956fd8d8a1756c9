// A text with the lines marked that it has or lacks against another text.
// Must not know what the texts are.
import { lineDiff, nearChanges } from "./lineDiff.ts"

interface DifferenceProps {
  readonly after: string
  readonly before: string
  /** Leaves out lines that are far from a change. */
  readonly isShort?: boolean
}

const elements = { same: "span", gone: "del", new: "ins" } as const

export const Difference = ({ after, before, isShort = false }: DifferenceProps) => {
  const lines = lineDiff(before, after)
  return (
    <pre class="difference" aria-label="Difference">
      {(isShort ? nearChanges(lines) : lines).map(({ kind, text }, at) => {
        const Line = elements[kind]
        return <Line key={at}>{`${text}\n`}</Line>
      })}
    </pre>
  )
}
