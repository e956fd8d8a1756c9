// The gateway key by which a page sends requests. It lives as long as the tab, and is written nowhere.
// Must not know what is sent.
import { signal } from "@preact/signals"

export const gatewayKey = signal("")

export const KeyField = ({
  isRequired = false,
  onChosen
}: {
  readonly isRequired?: boolean
  readonly onChosen?: () => void
}) => (
  <label>
    Gateway key
    <input
      type="password"
      required={isRequired}
      autocomplete="off"
      value={gatewayKey.value}
      onChange={(event) => {
        gatewayKey.value = event.currentTarget.value.trim()
        onChosen?.()
      }}
    />
  </label>
)
