// Keeps what V8 has learned about the objects of `process.nextTick`. Run before the gateway's code is loaded.
// Must not import that code.
import { createHook } from "node:async_hooks"

/** One of the objects that Node makes for each call of `process.nextTick`; undefined where it makes none. */
export const tickObject = (): object | undefined => {
  let made: object | undefined
  const hook = createHook({
    init: (_id, type, _trigger, resource) => {
      if (type === "TickObject") made = resource
    }
  }).enable()
  process.nextTick(() => undefined)
  hook.disable()
  return made
}

// Kept for the life of the process, on an object that no bundler leaves out. V8 drops the shape of these objects when a
// full collection finds none of them, and from then on makes each in its slowest way: 5 us of a chat, which has nine.
Object.defineProperty(globalThis, Symbol("model-gateway/tick"), { value: tickObject() })
