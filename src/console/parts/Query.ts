// Loads what a page shows: by a query, again in intervals, and by the stream of ended requests, while the page is visible.
// It must not know pages.
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { type RequestRow, resume } from "../AdminClient.ts"
import { gatewayAddress } from "../gatewayAddress.ts"
import { readJson } from "../readJson.ts"

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

/** What a button or a form does, and why it last failed. */
export interface Action {
  readonly fault: Signal<string>
  readonly isBusy: Signal<boolean>
  readonly run: (action: () => Promise<void>) => Promise<void>
}

export const useAction = (): Action => {
  const fault = useSignal("")
  const isBusy = useSignal(false)
  const run: Action["run"] = async (action) => {
    isBusy.value = true
    fault.value = ""
    try {
      await action()
    } catch (error) {
      fault.value = messageOf(error)
    }
    isBusy.value = false
  }
  return { fault, isBusy, run }
}

// The requests as they end: the event stream of the admin API, open while the page is visible.

export interface RequestEvent {
  readonly data: ReadonlyArray<RequestRow>
  /** How many more ended. */
  readonly skipped: number
}

const isEvent = (value: unknown): value is RequestEvent =>
  typeof value === "object" && value !== null && "data" in value && "skipped" in value

export interface Listener {
  /** The stream is open, for the first time or again: what ended before is in the list. */
  readonly opened: () => void
  readonly arrived: (event: RequestEvent) => void
}

/** Until the next try after a refusal; the browser itself tries again after a loss of the connection. */
const pauseMillis = 5000

/** Listens to requests; returns what ends it. */
const listen = (query: Readonly<Record<string, string>>, { arrived, opened }: Listener): (() => void) => {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const open = (): void => {
    source = new EventSource(`${gatewayAddress}/admin/v1/requests/events?${new URLSearchParams(query)}`)
    source.addEventListener("open", opened)
    source.addEventListener("requests", ({ data }: MessageEvent<string>) => {
      const event = readJson(data)
      if (isEvent(event)) arrived(event)
    })
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) return
      // A refusal: perhaps the session has ended.
      resume().catch(() => undefined)
      timer = setTimeout(open, pauseMillis)
    })
  }
  open()
  return () => {
    clearTimeout(timer)
    source?.close()
  }
}

/** Whether the page can be seen. A hidden one holds no connection, of which a browser has few. */
const useVisible = (): boolean => {
  const isVisible = useSignal(!document.hidden)
  useEffect(() => {
    const look = () => {
      isVisible.value = !document.hidden
    }
    document.addEventListener("visibilitychange", look)
    return () => document.removeEventListener("visibilitychange", look)
  }, [])
  return isVisible.value
}

/** Listens while `isOn` and the page is visible, again when the query changes. */
export const useRequestEvents = (query: Readonly<Record<string, string>>, isOn: boolean, listener: Listener): void => {
  const isVisible = useVisible()
  const name = JSON.stringify(query)
  useEffect(() => (isOn && isVisible ? listen(query, listener) : undefined), [name, isOn, isVisible])
}
