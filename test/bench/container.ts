// Bounds the memory of a process as a container does, by a control group of version 1 or 2 of its own.
// Must not know what runs in it.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Container {
  /** A command line that enters the group and then becomes the program. */
  readonly around: (command: string, args: ReadonlyArray<string>) => readonly [string, ReadonlyArray<string>]
  /** How many processes the kernel killed because their memory reached the bound. */
  readonly kills: () => number
  /** The most memory that was in use, in bytes, files in the kernel's cache included. */
  readonly mostBytes: () => number
  readonly remove: () => void
}

interface Names {
  readonly root: string
  readonly limit: string
  /** Swap would let a process grow beyond the bound. */
  readonly withSwap: string
  readonly events: string
  readonly most: string
}

const older: Names = {
  root: "/sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  withSwap: "memory.memsw.limit_in_bytes",
  events: "memory.oom_control",
  most: "memory.max_usage_in_bytes"
}
const newer: Names = {
  root: "/sys/fs/cgroup",
  limit: "memory.max",
  withSwap: "memory.swap.max",
  events: "memory.events",
  most: "memory.peak"
}

/** A group of so many bytes; undefined where this user may not make one. */
export const makeContainer = (name: string, bytes: number): Container | undefined => {
  const names = existsSync(join(older.root, older.limit)) ? older : newer
  const folder = join(names.root, name)
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, names.limit), String(bytes))
  } catch {
    return undefined
  }
  if (existsSync(join(folder, names.withSwap)))
    writeFileSync(join(folder, names.withSwap), names === older ? String(bytes) : "0")
  const read = (file: string): string => readFileSync(join(folder, file), "utf8")
  return {
    around: (command, args) => [
      "sh",
      ["-c", 'echo $$ > "$0" && exec "$@"', join(folder, "cgroup.procs"), command, ...args]
    ],
    kills: () => Number(/^oom_kill (\d+)$/m.exec(read(names.events))?.[1] ?? Number.NaN),
    mostBytes: () => Number(read(names.most)),
    remove: () => rmdirSync(folder)
  }
}

/** The command line of a program in the group, or of the program itself without one. */
export const within = (
  container: Container | undefined,
  command: string,
  args: ReadonlyArray<string>
): readonly [string, ReadonlyArray<string>] => container?.around(command, args) ?? [command, args]
