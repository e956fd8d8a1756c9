// Draws small valid pictures: a two-colour gradient as PNG or JPEG, with colours derived from the prompt.
// It must not depend on requests.
// Source: the PNG specification (RFC 2083) and baseline JPEG (ITU-T T.81).

import { createHash } from "node:crypto"
import { crc32, deflateSync } from "node:zlib"

interface Gradient {
  readonly width: number
  readonly height: number
  /** Red, green and blue of a point, 0 to 255. */
  readonly at: (x: number, y: number) => readonly [number, number, number]
}

const gradient = (prompt: string, aspectRatio: string | undefined, longSide: number): Gradient => {
  const [wide = 1, high = 1] = (aspectRatio ?? "1:1").split(":").map(Number)
  const scale = longSide / Math.max(wide, high)
  const [width, height] = [Math.max(1, Math.round(wide * scale)), Math.max(1, Math.round(high * scale))]
  const seed = createHash("sha256").update(prompt).digest()
  const mixed = (channel: number, share: number) =>
    Math.round((seed[channel] ?? 0) * (1 - share) + (seed[channel + 3] ?? 0) * share)
  return {
    width,
    height,
    at: (x, y) => {
      const share = (x + y) / (width + height)
      return [mixed(0, share), mixed(1, share), mixed(2, share)]
    }
  }
}

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** A PNG for `prompt`, `longSide` pixels on its longer side, as base64; the same prompt gives the same bytes. */
export const drawPng = (prompt: string, aspectRatio: string | undefined, longSide = 64): string => {
  const { width, height, at } = gradient(prompt, aspectRatio, longSide)
  const stride = 1 + width * 3
  const rows = Buffer.alloc(height * stride)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows.set(at(x, y), y * stride + 1 + x * 3)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0))
  ]).toString("base64")
}

const segment = (marker: number, data: ReadonlyArray<number>): ReadonlyArray<number> => [
  0xff,
  marker,
  (data.length + 2) >> 8,
  (data.length + 2) & 0xff,
  ...data
]

/** The levels of one colour: brightness and the two colour differences, centred on zero. */
const levels = ([red, green, blue]: readonly [number, number, number]): ReadonlyArray<number> =>
  [
    Math.round(0.299 * red + 0.587 * green + 0.114 * blue) - 128,
    Math.round(-0.168736 * red - 0.331264 * green + 0.5 * blue),
    Math.round(0.5 * red - 0.418688 * green - 0.081312 * blue)
  ].map((level) => Math.min(127, Math.max(-128, level)))

/** The code of each category 0 to 11 is the category in four bits. The only code of the other table ends a block. */
const differenceTable = [0x00, 0, 0, 0, 12, ...Array<number>(12).fill(0), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
const endTable = [0x10, 1, ...Array<number>(15).fill(0), 0x00]

/** Each block of 8 by 8 pixels has one flat colour, so only its first coefficient is set. */
const scan = ({ width, height, at }: Gradient): ReadonlyArray<number> => {
  const bytes: Array<number> = []
  let pending = 0
  let count = 0
  const put = (value: number, bits: number) => {
    for (let bit = bits - 1; bit >= 0; bit--) {
      pending = (pending << 1) | ((value >> bit) & 1)
      if (++count < 8) continue
      bytes.push(pending, ...(pending === 0xff ? [0x00] : []))
      pending = 0
      count = 0
    }
  }
  const before = [0, 0, 0]
  for (let y = 0; y < height; y += 8) {
    for (let x = 0; x < width; x += 8) {
      for (const [component, level] of levels(at(x, y)).entries()) {
        const difference = level - (before[component] ?? 0)
        before[component] = level
        const category = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1
        put(category, 4)
        put(difference > 0 ? difference : difference + (1 << category) - 1, category)
        put(0, 1)
      }
    }
  }
  put(0x7f, 7)
  return bytes
}

/** A JPEG for `prompt`, as base64; the same prompt gives the same bytes. */
export const drawJpeg = (prompt: string, aspectRatio: string | undefined, longSide = 64): string => {
  const picture = gradient(prompt, aspectRatio, longSide)
  const { width, height } = picture
  const components = [1, 2, 3]
  return Buffer.from([
    0xff,
    0xd8,
    ...segment(0xe0, [...Buffer.from("JFIF\0", "latin1"), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    // Each quantisation step is 8, so the first coefficient of a flat block is its level.
    ...segment(0xdb, [0, ...Array<number>(64).fill(8)]),
    ...segment(0xc0, [
      8,
      height >> 8,
      height & 0xff,
      width >> 8,
      width & 0xff,
      3,
      ...components.flatMap((id) => [id, 0x11, 0])
    ]),
    ...segment(0xc4, differenceTable),
    ...segment(0xc4, endTable),
    ...segment(0xda, [3, ...components.flatMap((id) => [id, 0x00]), 0, 63, 0]),
    ...scan(picture),
    0xff,
    0xd9
  ]).toString("base64")
}
