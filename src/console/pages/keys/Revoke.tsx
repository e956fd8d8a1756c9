// The button that revokes a key. It asks once more before it does.
// Must not know where the key is shown.
import { useSignal } from "@preact/signals"
import { revokeKey } from "../../AdminClient.ts"
import { messageOf } from "../../parts/Query.ts"

interface RevokeProps {
  readonly id: string
  readonly done: () => void
}

export const Revoke = ({ done, id }: RevokeProps) => {
  const asks = useSignal(false)
  const fault = useSignal("")
  const revoke = async (): Promise<void> => {
    asks.value = false
    try {
      await revokeKey(id)
      done()
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  if (!asks.value)
    return (
      <>
        <button type="button" class="danger" onClick={() => (asks.value = true)}>
          Revoke
        </button>
        <span class="fault" role="alert">
          {fault.value}
        </span>
      </>
    )
  return (
    <>
      <button type="button" class="danger" onClick={() => void revoke()}>
        Refuse this key now
      </button>
      <button type="button" onClick={() => (asks.value = false)}>
        Cancel
      </button>
    </>
  )
}
