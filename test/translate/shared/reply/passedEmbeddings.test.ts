// Tests lists of embeddings whose vectors are text: they are read and printed like all others.
// Must not depend on an upstream's wrapping of vectors.
import { expect, it } from "vitest"
import { joinEmbeddings, NumberList, PassedEmbeddings } from "../../../../src/translate/shared/reply/embeddingList.ts"
import { strictlyEmbeddings } from "../../../../src/translate/shared/reply/clientForm.ts"

const facts = { model: "m", usage: { prompt_tokens: 3, total_tokens: 3 }, provider: "google" }
const passed = () =>
  new PassedEmbeddings(
    [{ embedding: new NumberList("[0.5,-1]") }, { embedding: new NumberList("[2]"), truncated: true }],
    facts
  )
const plain = {
  object: "list" as const,
  data: [
    { object: "embedding" as const, index: 0, embedding: [0.5, -1] },
    { object: "embedding" as const, index: 1, embedding: [2], truncated: true as const }
  ],
  ...facts
}

it("passed embeddings: are the list of their numbers (L13)", () => {
  expect(JSON.stringify(passed())).toBe(JSON.stringify(plain))
  const list = passed()
  expect(list.data).toBe(list.data)
})

it("passed embeddings: print the text of the list, and of its strict form (L13)", () => {
  expect(passed().json(false)).toBe(JSON.stringify(plain))
  expect(passed().json(true)).toBe(JSON.stringify(strictlyEmbeddings(plain)))
})

it("passed embeddings: lists of several calls are joined, parsed or not (L13)", () => {
  const joined = joinEmbeddings([passed(), passed()])
  const whole = joinEmbeddings([plain, plain])
  expect(joined).toBeInstanceOf(PassedEmbeddings)
  expect(JSON.stringify(joined)).toBe(JSON.stringify(whole))
  expect(JSON.stringify(joinEmbeddings([passed(), plain]))).toBe(JSON.stringify(whole))
  expect(whole.data.map(({ index }) => index)).toEqual([0, 1, 2, 3])
})
