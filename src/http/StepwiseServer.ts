// Node's server, whose requests arrive together.
// It must not know what becomes of a request.
import { Server, ServerResponse } from "node:http"
import { inStep } from "../upstream/Steps.ts"

/**
 * Hands on requests behind the look at all sockets, when most bodies are here too and can be taken as they are. Whose
 * client has gone by then is handed to nobody: nothing would tell of the leaving any more.
 */
export class StepwiseServer extends Server {
  override emit(name: string, ...facts: Array<unknown>): boolean {
    const [, response] = facts
    if (name !== "request" || !(response instanceof ServerResponse)) return super.emit(name, ...facts)
    inStep("arrival", () => {
      if (!response.closed) super.emit(name, ...facts)
    })
    return true
  }
}
