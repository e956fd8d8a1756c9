// Loads what a page shows, again when its question changes and in intervals while the page is visible.
// Must not know what is loaded.
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"

export interface Loaded<A> {
  readonly data: Signal<A | undefined>
  readonly fault: Signal<string>
  /** Loads again. */
  readonly reload: () => Promise<void>
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** `name` changes with the question; `everyMillis` of undefined loads once. */
export const useQuery = <A>(name: string, load: () => Promise<A>, everyMillis?: number): Loaded<A> => {
  const data = useSignal<A | undefined>(undefined)
  const fault = useSignal("")
  const settle = async (isCurrent: () => boolean): Promise<void> => {
    try {
      const loaded = await load()
      if (!isCurrent()) return
      data.value = loaded
      fault.value = ""
    } catch (error) {
      if (isCurrent()) fault.value = messageOf(error)
    }
  }
  useEffect(() => {
    let isCurrent = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const turn = async (): Promise<void> => {
      if (!document.hidden) await settle(() => isCurrent)
      if (isCurrent && everyMillis !== undefined) timer = setTimeout(() => void turn(), everyMillis)
    }
    void turn()
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [name, everyMillis])
  return { data, fault, reload: () => settle(() => true) }
}
