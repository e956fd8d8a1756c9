// Reads the captured requests of unchanged clients from the shared folder; empty in a bare clone.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { sharedDir } from "./shared.ts"

export interface ClientRequest {
  readonly id: string
  readonly client: string
  readonly request: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
  }
}

export const clientRequests = (): ReadonlyArray<ClientRequest> => {
  const dir = sharedDir()
  if (dir === undefined) return []
  const folder = join(dir, "client-requests")
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name): ClientRequest => JSON.parse(readFileSync(join(folder, name), "utf8")))
}
