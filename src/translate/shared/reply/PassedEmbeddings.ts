// A list of embeddings whose vectors are still the text of the upstream; its numbers are parsed when they are asked for.
// Must not depend on an upstream.
import type { Embedding, EmbeddingList } from "../../../wire/openai/Embeddings.ts"
import type { NumberList } from "./numberLists.ts"

/** One vector; `truncated` where its input was cut. */
export interface PassedVector {
  readonly embedding: NumberList
  readonly truncated?: true
}

type Facts = Pick<EmbeddingList, "model" | "usage" | "provider">

export class PassedEmbeddings implements EmbeddingList {
  readonly object: "list"
  declare readonly model: string
  declare readonly usage: EmbeddingList["usage"]
  declare readonly provider?: string
  readonly #vectors: ReadonlyArray<PassedVector>
  #data: ReadonlyArray<Embedding> | undefined

  constructor(vectors: ReadonlyArray<PassedVector>, facts: Facts) {
    this.object = "list"
    this.#vectors = vectors
    Object.assign(this, facts)
  }

  /** A member of the class, as V8 makes a new hidden class for each object with a getter of its own. */
  get data(): ReadonlyArray<Embedding> {
    return (this.#data ??= this.#vectors.map(parsed))
  }

  /** What `JSON.stringify` prints. */
  toJSON(): EmbeddingList {
    const { data, model, object, provider, usage } = this
    return { object, data, model, usage, ...(provider === undefined ? {} : { provider }) }
  }

  get vectors(): ReadonlyArray<PassedVector> {
    return this.#vectors
  }

  /** The same text as that of the list, or of its strict form. */
  json(strict: boolean): string {
    const { model, provider, usage } = this
    const data = this.#vectors.map((vector, index) => printed(vector, index, strict)).join(",")
    return strict
      ? `${JSON.stringify({ object: "list", model, usage }).slice(0, -1)},"data":[${data}]}`
      : `{"object":"list","data":[${data}],${JSON.stringify({ model, usage, provider }).slice(1)}`
  }
}

const parsed = ({ embedding, truncated }: PassedVector, index: number): Embedding => ({
  object: "embedding",
  index,
  embedding: embedding.numbers(),
  ...(truncated === true ? { truncated } : {})
})

const printed = ({ embedding, truncated }: PassedVector, index: number, strict: boolean): string =>
  `{"object":"embedding","index":${index},"embedding":${embedding.text}${truncated === true && !strict ? ',"truncated":true' : ""}}`
