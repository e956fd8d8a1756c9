// Finds the shared recordings and schemas next to the checkout; warns when they are missing.
// Must not depend on a test.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/** The shared folder, or undefined in a bare clone. */
export const sharedDir = (): string | undefined => {
  const dir = process.env["MODEL_GATEWAY_SHARED"] ?? join(root, "..", "shared")
  return existsSync(join(dir, "recordings")) ? dir : undefined
}

export const loudlySkipped = (what: string): void =>
  console.warn(`\n*** LEFT OUT: ${what}: no shared folder beside the checkout (MODEL_GATEWAY_SHARED) ***\n`)

export interface Recording {
  readonly id: string
  readonly provider: string
  readonly operation: string
  readonly provenance: string
  readonly features: ReadonlyArray<string>
  readonly normalized?: boolean
  readonly request: {
    readonly url: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly bodyText?: string
  }
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly bodyText?: string
  }
}

/** All recordings of a folder such as `gemini-api`, in name order; empty in a bare clone. */
export const recordings = (folder: string): ReadonlyArray<Recording> => {
  const dir = sharedDir()
  if (dir === undefined) return []
  const path = join(dir, "recordings", folder)
  return readdirSync(path)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name): Recording => JSON.parse(readFileSync(join(path, name), "utf8")))
}

const documents = new Map<string, Ajv2020>()
const oracles = new Map<string, ValidateFunction | undefined>()

const readDocument = (path: string, file: string): Ajv2020 => {
  // Optimized code takes longer to make than it saves.
  const code = { optimize: false }
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false, logger: false, code })
  documents.set(file, ajv.addSchema(JSON.parse(readFileSync(path, "utf8")), file))
  return ajv
}

/** The published schema `#/$defs/<entry>` of a file of the shared specs as an ajv validator. */
export const schemaOracle = (file: string, entry: string): ValidateFunction | undefined => {
  const place = `${file}#/$defs/${entry}`
  const dir = oracles.has(place) ? undefined : sharedDir()
  if (dir !== undefined)
    oracles.set(place, (documents.get(file) ?? readDocument(join(dir, "specs", file), file)).getSchema(place))
  return oracles.get(place)
}
