// Reads two heap snapshots of a process, and names the kinds of objects that grew most.
// Must not know the process.
import { readFileSync, rmSync } from "node:fs"
import type { Inspector } from "./inspector.ts"

interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: ReadonlyArray<string>; readonly node_types: ReadonlyArray<unknown> }
  }
  readonly nodes: ReadonlyArray<number>
  readonly strings: ReadonlyArray<string>
}

/** Bytes and number of the objects of each kind. */
export type Kinds = ReadonlyMap<string, { readonly bytes: number; readonly count: number }>

/** Sums a snapshot by the type and name of its nodes; strings and code are one kind each. */
export const kindsOf = ({ nodes, snapshot, strings }: Snapshot): Kinds => {
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, name, size] = ["type", "name", "self_size"].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number
  ]
  const typeNames = types[type] as ReadonlyArray<string>
  const kinds = new Map<string, { bytes: number; count: number }>()
  for (let at = 0; at < nodes.length; at += fields.length) {
    const typeName = typeNames[nodes[at + type] ?? 0] ?? ""
    const isNamed = typeName === "object" || typeName === "closure" || typeName === "native"
    const kind = isNamed ? `${typeName} ${strings[nodes[at + name] ?? 0]?.slice(0, 60)}` : typeName
    const sum = kinds.get(kind) ?? { bytes: 0, count: 0 }
    sum.bytes += nodes[at + size] ?? 0
    sum.count++
    kinds.set(kind, sum)
  }
  return kinds
}

/** Writes a snapshot of the process next to its files, reads and removes it. */
export const takeSnapshot = async (inspector: Inspector, folder: string): Promise<Kinds> => {
  const path = `${folder}/heap-${Date.now()}.heapsnapshot`
  await inspector.value(`process.getBuiltinModule("node:v8").writeHeapSnapshot(${JSON.stringify(path)})`)
  const snapshot: Snapshot = JSON.parse(readFileSync(path, "utf8"))
  rmSync(path)
  return kindsOf(snapshot)
}

/** Compiled code and the runtime's data about it. Rare paths are compiled for many minutes; that ends with the code. */
export const codeMib = (kinds: Kinds): number => (kinds.get("code")?.bytes ?? 0) / 2 ** 20

/** The kinds that grew most, one line each. */
export const grownKinds = (before: Kinds, after: Kinds, most = 12): ReadonlyArray<string> =>
  [...after]
    .map(([kind, { bytes, count }]) => ({
      kind,
      bytes: bytes - (before.get(kind)?.bytes ?? 0),
      count: count - (before.get(kind)?.count ?? 0)
    }))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, most)
    .map(({ bytes, count, kind }) => `${kind}: ${(bytes / 1024).toFixed(0)} KiB more in ${count} more objects`)
