// The inspector client of a loopback process, for profiles and heap sizes.
// Must not know what is measured.

export interface Inspector {
  /** Fails with the message of the process. */
  readonly send: <A>(method: string, params?: object) => Promise<A>
  /** The value of an expression in the process's global scope. */
  readonly value: <A>(expression: string) => Promise<A>
  readonly close: () => void
}

/** Opens one connection. Replies are matched by id. */
export const inspect = async (port: number): Promise<Inspector> => {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as ReadonlyArray<{
    readonly webSocketDebuggerUrl: string
  }>
  if (target === undefined) throw new Error(`no inspector on port ${port}`)
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true })
    socket.addEventListener("error", reject, { once: true })
  })
  let last = 0
  const send: Inspector["send"] = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last
      const hear = ({ data }: MessageEvent): void => {
        const { error, id: of, result } = JSON.parse(String(data))
        if (of !== id) return
        socket.removeEventListener("message", hear)
        if (error === undefined) resolve(result)
        else reject(new Error(`${method}: ${error.message}`))
      }
      socket.addEventListener("message", hear)
      socket.send(JSON.stringify({ id, method, params }))
    })
  return {
    send,
    value: async <A>(expression: string) =>
      (await send<{ readonly result: { readonly value: A } }>("Runtime.evaluate", { expression, returnByValue: true }))
        .result.value,
    close: () => socket.close()
  }
}
