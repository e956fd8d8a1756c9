// Tests when a client counts as stalled, with sockets of the test's own.
// Must not open a connection or wait.
import { expect, it } from "vitest"
import { Stalls } from "../../../src/http/node/Connections.ts"

const client = (written: number, waiting: number, queued = 0) => {
  const socket = {
    bytesWritten: written,
    writableLength: waiting,
    _handle: { writeQueueSize: queued },
    isClosed: false,
    destroy: () => {
      socket.isClosed = true
    }
  }
  return socket
}
const among = (...sockets: ReadonlyArray<ReturnType<typeof client>>) => {
  const stalls = new Stalls(30)
  for (const socket of sockets) stalls.add(socket)
  return stalls
}

it("slow clients: one that takes nothing is closed when the limit has passed, and one without bytes to take is not (F28)", () => {
  const [stalled, idle] = [client(100, 50), client(100, 0)]
  const stalls = among(stalled, idle)
  stalls.look(0)
  stalls.look(29)
  expect([stalled.isClosed, idle.isClosed]).toEqual([false, false])
  stalls.look(30)
  expect([stalled.isClosed, idle.isClosed]).toEqual([true, false])
})

it("slow clients: a complete write, or a part of one, begins the time again; a further write that waits does not (F28)", () => {
  const [whole, part, more] = [client(100, 50), client(100, 50, 50), client(100, 50)]
  const stalls = among(whole, part, more)
  stalls.look(0)
  whole.writableLength = 40
  part._handle.writeQueueSize = 49
  more.bytesWritten += 10
  more.writableLength += 10
  stalls.look(29)
  stalls.look(30)
  expect([whole.isClosed, part.isClosed, more.isClosed]).toEqual([false, false, true])
  stalls.look(58)
  expect([whole.isClosed, part.isClosed]).toEqual([false, false])
  stalls.look(59)
  expect([whole.isClosed, part.isClosed]).toEqual([true, true])
})

it("slow clients: the time begins again after a socket was empty, and a connection that left is not looked at (F28)", () => {
  const [emptied, left] = [client(100, 50), client(100, 50)]
  const stalls = among(emptied, left)
  stalls.look(0)
  emptied.writableLength = 0
  stalls.look(10)
  emptied.writableLength = 50
  stalls.look(20)
  stalls.remove(left)
  stalls.look(49)
  expect([emptied.isClosed, left.isClosed]).toEqual([false, false])
  stalls.look(50)
  expect([emptied.isClosed, left.isClosed]).toEqual([true, false])
})
