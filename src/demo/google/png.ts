// A small valid PNG made in code: a two-colour gradient whose colours come from the prompt.
// It must not know requests; format facts: the PNG specification (RFC 2083).

import { createHash } from "node:crypto"
import { crc32, deflateSync } from "node:zlib"

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

const sides: Readonly<Record<string, readonly [number, number]>> = {
  "16:9": [64, 36], "9:16": [36, 64], "4:3": [64, 48], "3:4": [48, 64], "3:2": [60, 40], "2:3": [40, 60], "21:9": [63, 27]
}

/** A PNG for `prompt`, 64 pixels on its longer side, as base64; the same prompt gives the same bytes. */
export const drawPng = (prompt: string, aspectRatio: string | undefined): string => {
  const [width, height] = sides[aspectRatio ?? "1:1"] ?? [64, 64]
  const seed = createHash("sha256").update(prompt).digest()
  const rows = Buffer.alloc(height * (1 + width * 3))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < 3; channel++) {
        const from = seed[channel] ?? 0
        const to = seed[channel + 3] ?? 0
        rows[y * (1 + width * 3) + 1 + x * 3 + channel] = Math.round(from + ((to - from) * (x + y)) / (width + height))
      }
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))])
    .toString("base64")
}
