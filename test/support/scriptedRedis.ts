// A Redis server on this machine whose replies a test writes, and which records the commands that it gets.
// Must not know what the gateway keeps there.
import { createServer, type Socket } from "node:net"

export interface ScriptedRedis {
  readonly url: string
  /** The commands so far, without those that open a connection or look whether Redis works. */
  readonly commands: ReadonlyArray<ReadonlyArray<string>>
  readonly close: () => Promise<void>
}

/** The first command in these bytes, and how many of them it takes; undefined while it is incomplete. */
const commandOf = (text: string): readonly [command: ReadonlyArray<string>, bytes: number] | undefined => {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (head === null) return undefined
  const parts: Array<string> = []
  let at = head[0].length
  for (let left = Number(head[1]); left > 0; left--) {
    const length = /^\$(\d+)\r\n/.exec(text.slice(at))
    if (length === null) return undefined
    at += length[0].length
    const end = at + Number(length[1])
    if (text.length < end + 2) return undefined
    parts.push(text.slice(at, end))
    at = end + 2
  }
  return [parts, at]
}

/** `replyTo` writes the bytes of a reply. Looks at Redis and the start of a connection are answered well. */
export const startScriptedRedis = async (
  replyTo: (command: ReadonlyArray<string>) => string
): Promise<ScriptedRedis> => {
  const commands: Array<ReadonlyArray<string>> = []
  const sockets = new Set<Socket>()
  const answer = (command: ReadonlyArray<string>): string => {
    const [name, key = ""] = command
    if (name === "HELLO" || name === "CLIENT" || name === "SELECT" || (name === "SET" && key.endsWith("look")))
      return "+OK\r\n"
    commands.push(command)
    return replyTo(command)
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    let text = ""
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1")
      for (let next = commandOf(text); next !== undefined; next = commandOf(text)) {
        const [command, length] = next
        text = text.slice(length)
        socket.write(answer(command))
      }
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    url: `redis://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    commands,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
}
