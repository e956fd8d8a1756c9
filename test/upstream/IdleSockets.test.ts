// Tests which sockets of the connection pool are closed because they rest.
// Must not depend on the HTTP client library.
import { Socket } from "node:net"
import { describe, expect, it } from "vitest"
import { IdleSockets } from "../../src/upstream/ConnectionPool.ts"

describe("idle sockets to upstreams", () => {
  it("idle sockets: of those that rest from one look to the next only the oldest are kept, up to the bound", () => {
    const idle = new IdleSockets(2)
    const sockets = Array.from({ length: 5 }, () => new Socket())
    const owners = sockets.map(() => ({ stats: { size: 0 } }))
    for (const [at, socket] of sockets.entries()) idle.add(owners[at] ?? { stats: { size: 1 } }, socket)
    const closed = () => sockets.map(({ destroyed }) => destroyed)
    const [first] = owners
    if (first !== undefined) first.stats.size = 1
    idle.look()
    expect(closed()).toEqual([false, false, false, false, false])
    idle.look()
    expect(closed()).toEqual([false, false, false, true, true])
    if (first !== undefined) first.stats.size = 0
    idle.look()
    expect(closed()).toEqual([false, false, true, true, true])
    idle.close()
  })
})
