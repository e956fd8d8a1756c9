// The operations of embeddings and of pictures in OpenAI's dialect.
// It must not depend on providers or accounts.
import { EmbeddingsRequest } from "../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../wire/openai/Images.ts"
import { checkLabelled } from "./checks.ts"
import { decodedBody, recordedJson } from "./decoded.ts"
import { answersOf, pictureOf, readMembers } from "./estimates.ts"
import type { OperationRules } from "./rules.ts"

export const embeddings: OperationRules<"embeddings"> = {
  body: decodedBody(EmbeddingsRequest, checkLabelled),
  estimate: { prompt: readMembers, usage: (_asked, { read }) => read },
  recorded: recordedJson()
}

export const images: OperationRules<"images"> = {
  body: decodedBody(ImagesRequest, checkLabelled),
  estimate: {
    prompt: readMembers,
    usage: (asked, { read }) => {
      const count = answersOf(asked)
      const imageOutput = count * pictureOf(asked)
      return { ...read, input: count * read.input, output: imageOutput, imageOutput, images: count }
    }
  },
  recorded: recordedJson()
}
