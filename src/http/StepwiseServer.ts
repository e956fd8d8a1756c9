// Node's server, which hands on all requests of a turn of the event loop together.
// It must not depend on how a request is answered.
import { Server, ServerResponse } from "node:http"
import { schedulePhase } from "../batching/Phases.ts"

/**
 * Hands on requests after the event loop has read all sockets, when most bodies are complete. A request whose client
 * has gone by then is dropped, because no further event would report the closed connection.
 */
export class StepwiseServer extends Server {
  override emit(name: string, ...facts: Array<unknown>): boolean {
    const [, response] = facts
    if (name !== "request" || !(response instanceof ServerResponse)) return super.emit(name, ...facts)
    schedulePhase("arrival", () => {
      if (!response.closed) super.emit(name, ...facts)
    })
    return true
  }
}
