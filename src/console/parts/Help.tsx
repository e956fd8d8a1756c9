// The keys of the console as a dialog, which holds the focus until it is closed.
// Must not know what the keys do.
import type { Signal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"

interface HelpProps {
  readonly isOpen: Signal<boolean>
  readonly keys: ReadonlyArray<readonly [key: string, meaning: string]>
}

export const Help = ({ isOpen, keys }: HelpProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const shown = isOpen.value
  useEffect(() => {
    if (shown) dialog.current?.showModal()
    else dialog.current?.close()
  }, [shown])
  return (
    <dialog
      ref={dialog}
      class="card help"
      aria-labelledby="help-title"
      onClose={() => (isOpen.value = false)}
      // An open dialog has the keys for itself. A closed one keeps the focus until the page is drawn again.
      onKeyDown={(event) => {
        if (event.currentTarget.open) event.stopPropagation()
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {keys.map(([key, meaning]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={meaning}>{meaning}</dd>
        ])}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}
