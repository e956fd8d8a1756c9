// The abort signal of one call: combines the caller's signal with an inactivity timeout.
// It must not know what the call waits for.

export interface Watch {
  readonly signal: AbortSignal
  /** Restarts the timeout. */
  readonly wind: () => void
  /** Detaches from the caller's signal and stops the timeout. */
  readonly release: () => void
  /** Aborts the call. */
  readonly abort: () => void
  /** Why the signal fired. */
  readonly fired: () => "aborted" | "timed_out" | undefined
}

/** `millis` is the longest silence; 0 disables the timeout. */
export const makeWatch = (outer: AbortSignal | undefined, millis: number): Watch => {
  const controller = new AbortController()
  let fired: "aborted" | "timed_out" | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const fire = (why: "aborted" | "timed_out") => {
    fired ??= why
    release()
    controller.abort()
  }
  const abort = () => fire("aborted")
  const release = () => {
    clearTimeout(timer)
    outer?.removeEventListener("abort", abort)
  }
  const wind = () => {
    clearTimeout(timer)
    if (millis > 0 && fired === undefined) timer = setTimeout(() => fire("timed_out"), millis)
  }
  if (outer?.aborted === true) abort()
  else outer?.addEventListener("abort", abort, { once: true })
  wind()
  return { signal: controller.signal, wind, release, abort, fired: () => fired }
}

/** Waits for the given time, or until the signal fires. */
export const pause = (millis: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", wake)
      resolve()
    }
    const timer = setTimeout(wake, millis)
    signal?.addEventListener("abort", wake, { once: true })
  })
