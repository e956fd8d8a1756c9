// The limits of a process whose memory is small, or that may open few files.
// It must not know how the sizes are found.
import type { LimitValues } from "./Limits.ts"

const MiB = 1024 * 1024

/** The memory of a process, in bytes. */
export interface ProcessMemory {
  /** What the heap may keep. */
  readonly heap: number
  /** The rest of the heap, which is for new objects. */
  readonly young: number
  /** The memory of the control group (container), or of the machine. */
  readonly whole: number
}

/** What is live, in bytes; it is known after a garbage collection. */
export interface LiveMemory {
  readonly heap: number
  /** Buffers, which are outside the heap. */
  readonly external: number
}

/** The last part is for the requests that run, and for the collector. */
const mostUsed = 0.85
/** What a process may have of its own, garbage included: the kernel adds the buffers of sockets, megabytes for a large body. */
const mostOwned = 0.7
/** Live objects of a gateway without requests: code, catalog, caches of the runtime. */
const idleHeap = 40 * MiB
/** Memory of the runtime outside the heap: machine code, stacks, libraries. */
const native = 64 * MiB
/** What V8 gives new objects: three parts, each of a 128th of the memory, and at most of this size. */
const youngParts = 3
const partOfMemory = 1 / 128
const mostOfPart = 64 * MiB
/** Before version 13. */
const mostOfOlderPart = 16 * MiB

/** A waiting stream takes less. Outside the heap and with garbage it is twice as much. */
const requestBytes = 32 * 1024
/** Bytes of the process for a counted one: an image of 10 MB counts twice and takes 87 MiB, next to streams and the rest. */
const wholePerCounted = 8

type MemoryLimits = Pick<
  LimitValues,
  | "bodiesInFlightBytes"
  | "bodyBytes"
  | "replyBytes"
  | "eventBytes"
  | "mediaBytes"
  | "mediaInFlightBytes"
  | "cacheBytes"
  | "signatureTotalBytes"
  | "contentQueueBytes"
  | "contentMemoryBytes"
  | "inFlight"
  | "connections"
>

/**
 * Splits the limit of V8's heap, which is one number for old and new objects. Flags for the new ones make them smaller
 * than is assumed here.
 */
export const splitHeap = (limit: number, whole: number, v8Major: number): ProcessMemory => {
  const part = Math.min(whole * partOfMemory, v8Major < 13 ? mostOfOlderPart : mostOfPart)
  const heap = Math.max(limit - youngParts * part, limit / 4)
  return { heap, young: limit - heap, whole }
}

/**
 * Limits that fit: a quarter of the free memory for what is kept, and three eighths of the heap for counted bytes, of
 * which the heap has up to two copies for moments. Slots may fill half of it, because their bytes and large bodies are
 * seldom together; where they are, the meter of the process refuses.
 */
export const fittingMemory = (limits: LimitValues, memory: ProcessMemory): MemoryLimits => {
  const atLeastSome = (room: number): number => Math.max(4 * MiB, room - idleHeap)
  const heap = atLeastSome(memory.heap * mostUsed)
  const whole = atLeastSome(memory.whole * mostUsed - native - memory.young)
  const free = Math.min(heap, whole)
  const least = (most: number, limit: number): number => Math.min(limit, Math.floor(most))
  const counted = Math.min((heap * 3) / 8, whole / wholePerCounted)
  // A body and its translation are counted together.
  const ofRequest = counted / 2
  const keptPart = free / 16
  const slots = Math.min(heap, whole / 2) / 2 / requestBytes
  return {
    bodiesInFlightBytes: least(counted, limits.bodiesInFlightBytes),
    bodyBytes: least(ofRequest, limits.bodyBytes),
    replyBytes: least(ofRequest, limits.replyBytes),
    eventBytes: least(ofRequest, limits.eventBytes),
    mediaBytes: least(ofRequest / 2, limits.mediaBytes),
    mediaInFlightBytes: least(counted, limits.mediaInFlightBytes),
    cacheBytes: least(keptPart, limits.cacheBytes),
    signatureTotalBytes: least(keptPart, limits.signatureTotalBytes),
    contentQueueBytes: least(keptPart, limits.contentQueueBytes),
    contentMemoryBytes: least(keptPart, limits.contentMemoryBytes),
    inFlight: least(slots, limits.inFlight),
    // Idle clients take a quarter of a running request.
    connections: least(slots * 4, limits.connections)
  }
}

/** True when what is live leaves no room for a further request. */
export const isMemoryFull = ({ external, heap }: LiveMemory, memory: ProcessMemory): boolean =>
  heap > memory.heap * mostUsed || native + memory.young + heap + external > memory.whole * mostUsed

/**
 * Bytes by which the process, garbage included, may still grow. Below 0 it takes so much that nothing may be added.
 */
export const roomOfProcess = (ownBytes: number, memory: ProcessMemory): number => memory.whole * mostOwned - ownBytes

// The limits of a process that may open only so many files: each connection of a client needs one more to an upstream.

/** Open files of the runtime itself: listeners, the database file, logs, Redis, timers. */
const ownFiles = 40

type FileLimits = Pick<LimitValues, "connections" | "idleSockets" | "mediaConnections">

/** Connections that fit, with a reserve for the store, idle sockets, media and refusals. */
export const fittingFiles = (limits: LimitValues, openFiles: number): FileLimits => {
  const usable = Math.max(10, openFiles - ownFiles - limits.storeConnections)
  const part = Math.floor(usable / 10)
  const idleSockets = Math.min(limits.idleSockets, part)
  const mediaConnections = Math.min(limits.mediaConnections, part)
  const rest = usable - idleSockets - mediaConnections - Math.min(64, part)
  return { connections: Math.min(limits.connections, Math.floor(rest / 2)), idleSockets, mediaConnections }
}
