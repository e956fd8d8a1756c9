// A field for code with numbered lines, of which those with faults are marked.
// Must not know the code.
import { useEffect, useRef } from "preact/hooks"

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
