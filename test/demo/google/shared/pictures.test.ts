import { inflateSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { drawJpeg, drawPng } from "../../../../src/demo/google/shared/pictures.ts"

/** The colours at the corners of a baseline JPEG whose blocks hold a first coefficient alone, read by the tables in the file. */
const decodeCorners = (
  bytes: Buffer
): { readonly width: number; readonly height: number; readonly colours: ReadonlyArray<ReadonlyArray<number>> } => {
  const tables = new Map<number, Map<string, number>>()
  let quantum = 0
  let [width, height, at] = [0, 0, 2]
  for (; bytes[at + 1] !== 0xda; at += 2 + bytes.readUInt16BE(at + 2)) {
    const data = bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2))
    if (bytes[at + 1] === 0xdb) quantum = data[1] ?? 0
    if (bytes[at + 1] === 0xc0) [height, width] = [data.readUInt16BE(1), data.readUInt16BE(3)]
    if (bytes[at + 1] !== 0xc4) continue
    const codes = new Map<string, number>()
    let [code, next] = [0, 17]
    for (let length = 1; length <= 16; length++, code <<= 1) {
      for (let count = data[length] ?? 0; count > 0; count--)
        codes.set((code++).toString(2).padStart(length, "0"), data[next++] ?? 0)
    }
    tables.set(data[0] ?? 0, codes)
  }
  const stream = bytes.subarray(at + 2 + bytes.readUInt16BE(at + 2), bytes.length - 2)
  const bits = [...stream]
    .filter((byte, index) => !(byte === 0 && stream[index - 1] === 0xff))
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("")
  let read = 0
  const symbol = (table: number): number => {
    for (let end = read + 1; ; end++) {
      const found = tables.get(table)?.get(bits.slice(read, end))
      if (found === undefined) continue
      read = end
      return found
    }
  }
  const before = [0, 0, 0]
  const blocks = Array.from({ length: Math.ceil(width / 8) * Math.ceil(height / 8) }, () =>
    before.map((last, component) => {
      const size = symbol(0x00)
      const raw = Number.parseInt(bits.slice(read, read + size) || "0", 2)
      read += size
      before[component] = last + (size > 0 && raw < 1 << (size - 1) ? raw - (1 << size) + 1 : raw)
      expect(symbol(0x10)).toBe(0)
      return ((before[component] ?? 0) * quantum) / 8
    })
  )
  const colours = [blocks[0], blocks.at(-1)].map(([light = 0, blue = 0, red = 0] = []) => [
    light + 128 + 1.402 * red,
    light + 128 - 0.344136 * blue - 0.714136 * red,
    light + 128 + 1.772 * blue
  ])
  return { width, height, colours }
}

describe("drawn images", () => {
  const pixels = (base64: string) => {
    const png = Buffer.from(base64, "base64")
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
    const rows = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)))
    return {
      signature: png.subarray(0, 8).toString("latin1"),
      width,
      height,
      at: (x: number, y: number) => [...rows.subarray(y * (1 + width * 3) + 1 + x * 3).subarray(0, 3)]
    }
  }
  it("PNG: unpacks to its size", () => {
    const { signature, width, height } = pixels(drawPng("a cat", "9:16", 128))
    expect([signature, width, height]).toEqual(["\x89PNG\r\n\x1a\n", 72, 128])
  })
  it("JPEG: decodes by its own tables to the colours of the PNG", () => {
    for (const prompt of ["a cat", "a dog", "the sea at night", "x"]) {
      const { width, height, colours } = decodeCorners(Buffer.from(drawJpeg(prompt, "4:3"), "base64"))
      expect([width, height]).toEqual([64, 48])
      const { at } = pixels(drawPng(prompt, "4:3"))
      for (const [index, colour] of [at(0, 0), at(56, 40)].entries()) {
        const drawn = colours[index] ?? []
        expect(
          Math.max(...colour.map((value, channel) => Math.abs(value - (drawn[channel] ?? 0)))),
          `${prompt} ${index} ${colour} ${drawn}`
        ).toBeLessThan(3)
      }
    }
  })
})
