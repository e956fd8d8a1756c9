// Leaves Node's warning on SQLite out, and keeps what V8 has learned about `process.nextTick`. Run before the gateway's code.
// Must not import that code, or change any other warning.
import { createHook } from "node:async_hooks"

/** True for the warning that `node:sqlite` gives when it is loaded. */
export const isSqliteWarning = (warning: string | Error, type: unknown): boolean =>
  typeof warning === "string" &&
  type === "ExperimentalWarning" &&
  warning.startsWith("SQLite is an experimental feature")

const { emitWarning } = process

/** Node itself calls this function of the process with a text and a type. */
process.emitWarning = (warning: string | Error, ...rest: ReadonlyArray<unknown>): void => {
  if (!isSqliteWarning(warning, rest[0])) Reflect.apply(emitWarning, process, [warning, ...rest])
}

// Keeps what V8 has learned about the objects of `process.nextTick`. Run before the gateway's code is loaded.

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
