// Processes of `serve --workers` from outside: requests on connections of their own, their statuses, and signals.
// Must not depend on a test.
import { readFileSync } from "node:fs"
import { request } from "node:http"

/** One request on a connection of its own, so that the system chooses a process for it; "lost" without an answer. */
export const ask = (
  origin: string,
  path: string,
  key: string,
  body?: string,
  method = body === undefined ? "GET" : "POST"
): Promise<{ status: number | "lost"; text: string }> =>
  new Promise((resolve) => {
    const headers = { "x-gateway-api-key": key, "content-type": "application/json" }
    const outgoing = request(`${origin}${path}`, { method, agent: false, headers }, (response) => {
      let text = ""
      response.on("data", (part) => (text += part))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
      response.on("error", () => resolve({ status: "lost", text }))
    })
    outgoing.on("error", () => resolve({ status: "lost", text: "" }))
    outgoing.end(body)
  })

/** How often each status came. */
export const tally = (answers: ReadonlyArray<{ readonly status: number | "lost" }>) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(answers, ({ status }) => String(status))).map(([status, some = []]) => [
      status,
      some.length
    ])
  )

/** The processes that a process has started; none once it has ended. */
export const childrenOf = (pid: number | undefined): ReadonlyArray<number> => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)
  } catch {
    return []
  }
}
/** False when there is no such process; 0 would be the group of this one. */
export const signal = (pid: number, name: "SIGKILL" | "SIGSTOP" | "SIGCONT" | 0): boolean => {
  try {
    return pid > 0 && process.kill(pid, name)
  } catch {
    return false
  }
}
export const isRunning = (pid: number): boolean => signal(pid, 0)
