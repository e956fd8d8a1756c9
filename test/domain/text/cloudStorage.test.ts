// Tests Cloud Storage addresses: the object each one names, and the prefixes that contain it.
// Must not depend on accounts.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isStoragePrefix, isWithin, storageObject } from "../../../src/domain/text/cloudStorage.ts"

describe("addresses of objects", () => {
  it.each([
    ["gs://bucket/a b.png", "bucket/a b.png"],
    ["  GS://bucket/a", "bucket/a"],
    ["https://storage.googleapis.com/bucket/a%20b.png?x=1", "bucket/a b.png"],
    ["https://STORAGE.cloud.google.com./bucket/a", "bucket/a"],
    ["http://bucket.storage.googleapis.com/a", "bucket/a"],
    ["https://bucket.storage.us-central1.rep.googleapis.com/mine/a", ""],
    ["https://www.googleapis.com/storage/v1/b/bucket/o/a", ""],
    ["https://example.com/storage.googleapis.com/bucket", undefined],
    ["https://storage.googleapis.com.evil.example/bucket", undefined],
    ["a text of gs://bucket/a", undefined],
    ["data:image/png;base64,AAAA", undefined]
  ])("object address: reads %s", (address, object) => expect(storageObject(address)).toBe(object))
})

describe("prefixes of objects", () => {
  const segment = fc.stringMatching(/^[a-z0-9][a-z0-9 _-]{1,8}$/)
  const path = fc.array(segment, { minLength: 1, maxLength: 4 })
  it("prefixes: match themselves and objects below their last segment only", () => {
    fc.assert(
      fc.property(path, path, segment, (prefix, below, more) => {
        const list = [`gs://${prefix.join("/")}`]
        fc.pre(isStoragePrefix(list[0] ?? ""))
        const at = prefix.join("/")
        expect([
          isWithin(list, at),
          isWithin(list, `${at}/`),
          isWithin(list, [at, ...below].join("/")),
          isWithin(list, at + more)
        ]).toEqual([true, true, true, false])
      })
    )
  })
  it("prefixes: match no ambiguous path", () => {
    const list = ["gs://bucket/a"]
    for (const object of [
      "bucket/a/../b",
      "bucket/a/..",
      "bucket/a/./b",
      "bucket/a/%2e%2e/b",
      "bucket/a/%2E./b",
      "bucket/a%2fb",
      "bucket/a\\..\\b",
      "bucket/a/\0",
      "../bucket/a",
      "/bucket/a",
      ""
    ]) {
      expect([object, isWithin(list, object)]).toEqual([object, false])
    }
    expect([
      isWithin([], "bucket/a"),
      isWithin(list, "bucket/a/..b"),
      isWithin(["gs://bucket/a/"], "bucket/a/b")
    ]).toEqual([false, true, true])
  })
})
