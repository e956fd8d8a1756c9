// A button that copies a text, and states that it did.
// Must not know the text.
import { useSignal } from "@preact/signals"

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
