// Tests the limits of a process that may open few files.
// Must not start a process.
import { describe, expect, it } from "vitest"
import { fittingFiles } from "../../src/domain/fittedLimits.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"

describe("limits by open files", () => {
  it("open files: connections, their upstream sockets and the reserves fit (F42)", () => {
    expect([64, 256, 1_024, 20_000, 1_048_576].map((files) => fittingFiles(defaultLimits, files))).toEqual([
      { connections: 5, idleSockets: 1, mediaConnections: 1 },
      { connections: 73, idleSockets: 20, mediaConnections: 20 },
      { connections: 374, idleSockets: 97, mediaConnections: 64 },
      { connections: 9_861, idleSockets: 100, mediaConnections: 64 },
      { connections: 20_000, idleSockets: 100, mediaConnections: 64 }
    ])
  })
  it("open files: a lower limit of the operator stays (F42)", () =>
    expect(fittingFiles({ ...defaultLimits, connections: 10 }, 1_024).connections).toBe(10))
})
