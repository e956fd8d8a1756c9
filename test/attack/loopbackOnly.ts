// Preloaded into the attacked gateway: blocks sockets to other hosts than loopback; `globalThis.attempted` counts them.
// Must not know the gateway.
import dns from "node:dns"
import { createRequire, syncBuiltinESMExports } from "node:module"
import net from "node:net"
import { monitorEventLoopDelay } from "node:perf_hooks"

const near = /^(?:127\.\d+\.\d+\.\d+|::1|localhost|)$/
const attempted: Record<string, number> = {}
const loop = monitorEventLoopDelay({ resolution: 10 })
loop.enable()
Object.assign(globalThis, { attempted, attackLoop: loop, attackRequire: createRequire(import.meta.url) })

const refuse = (host: string): Error => {
  attempted[host] = (attempted[host] ?? 0) + 1
  return Object.assign(new Error("no socket leaves loopback"), { code: "ENETUNREACH" })
}

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (this: net.Socket, ...args: ReadonlyArray<unknown>): net.Socket {
  const [first] = args
  const given: unknown = Array.isArray(first) ? first[0] : first
  const { host = "" }: { readonly host?: string } = Object(given)
  if (near.test(host)) return Reflect.apply(connect, this, args)
  const error = refuse(host)
  process.nextTick(() => this.destroy(error))
  return this
}

const lookup = dns.lookup
Object.assign(dns, {
  lookup: (host: string, ...rest: ReadonlyArray<unknown>) => {
    if (near.test(host)) return Reflect.apply(lookup, dns, [host, ...rest])
    const answer = rest.at(-1)
    const error = refuse(host)
    if (typeof answer === "function") process.nextTick(() => answer(error))
    return {}
  }
})
const promised = dns.promises.lookup
Object.assign(dns.promises, {
  lookup: (host: string, ...rest: ReadonlyArray<unknown>) =>
    near.test(host) ? Reflect.apply(promised, dns.promises, [host, ...rest]) : Promise.reject(refuse(host))
})
syncBuiltinESMExports()
