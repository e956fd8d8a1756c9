// A provider as a process of its own, so that its work takes no time of the clients: it works on each call for a second.
// Must not know the gateway. It is started with fork, and sends its address once it listens.
import { bytesOf, startProvider } from "./provider.ts"

/** Many requests run together. */
const workMillis = 1_000

const { url } = await startProvider({
  usually: ({ answer, socket }) =>
    void setTimeout(() => {
      if (!socket.destroyed) socket.write(bytesOf(answer))
    }, workMillis)
})
process.send?.(url)
// It ends with the process that started it.
process.once("disconnect", () => process.exit(0))
