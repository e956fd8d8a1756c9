// Runs the shell commands of a page in one shell, against a gateway of its own and stand-ins for Google.
// Must not know what a page promises.
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { repository } from "./docPages.ts"

/** Commands that no test can run, by their first words, with the reason. Every other command of a page is run. */
export const notRun: Readonly<Record<string, string>> = {
  "npm ci": "fetches packages; `.ci/run` runs it first",
  "npm install": "fetches packages; `npm run consumer` installs the package in an empty project",
  "npm pack": "builds the package; `npm run consumer` does it, and installs the result",
  sudo: "needs the unit of systemd; the verb after it is run on another page",
  docker: "needs Docker; a test starts the same verb with the variables of the image",
  helm: "needs a cluster; test/helm.test.ts renders the chart",
  kubectl: "needs a cluster",
  gcloud: "needs an account of Google Cloud",
  gemini: "is another program; `npm run agents` runs it with these variables",
  claude: "is another program; `npm run agents` runs it with these variables",
  systemctl: "needs systemd; a test of serve sends the signal itself",
  "npm run reliability": "runs for minutes, and needs PostgreSQL's and Redis' programs",
  'curl -s -H "x-gateway-api-key: $OPS_KEY" "$GATEWAY/admin/v1/requests/$ID/content"':
    "needs a request whose content is kept; test/http/admin/requestContent.test.ts sends one",
  'curl -sN -H "x-gateway-api-key: $OPS_KEY" "$GATEWAY/admin/v1/requests/events?status=503"':
    "has no end; test/http/admin/requestEvents.test.ts reads such a stream"
}

/** Pages whose commands another test runs, where it also compares the answers. */
export const runElsewhere: Readonly<Record<string, string>> = {
  "docs/admin.md": "test/http/admin/adminPage.test.ts",
  "examples/README.md": "test/examples.test.ts"
}

/** The row of `notRun` for a command; variables before it do not count. */
export const reasonNotToRun = (command: string): string | undefined => {
  const words = command.replace(/^(?:[A-Z_]+=(?:"[^"]*"|\S*)(?:\s|\\\n)+)+/, "")
  return Object.keys(notRun).find((row) => words === row || words.startsWith(`${row} `))
}

export interface DocRun {
  readonly code: number | null
  readonly err: string
  /** The HTTP status of each request, in order. */
  readonly statuses: ReadonlyArray<number>
}

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => done(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Runs the commands in a new folder that has these files; `first` is run before them. */
export const runCommands = async (
  commands: ReadonlyArray<string>,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  first: ReadonlyArray<string> = []
): Promise<DocRun> => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-docs-"))
  const statuses = join(folder, ".statuses")
  for (const [name, text] of Object.entries({ ...files, ".statuses": "" })) writeFileSync(join(folder, name), text)
  const script = [readFileSync(join(repository, "test/support/docShell.sh"), "utf8"), ...first, ...commands, ""]
  const child = spawn("bash", ["-c", script.join("\n")], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      NO_COLOR: "1",
      REPOSITORY: repository,
      NODE: process.execPath,
      STATUSES: statuses,
      WORKERS_PORT: String(await freePort()),
      GATEWAY_DATA_DIR: folder,
      GATEWAY_LIMITS_READY_DELAY_MILLIS: "0",
      ...env
    }
  })
  let err = ""
  child.stderr.on("data", (part) => (err += part))
  const code = await new Promise<number | null>((done) => child.once("close", done))
  const seen = readFileSync(statuses, "utf8").trim()
  rmSync(folder, { recursive: true })
  return { code, err, statuses: seen === "" ? [] : seen.split("\n").map(Number) }
}
