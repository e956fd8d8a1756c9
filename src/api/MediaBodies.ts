// The bodies of embeddings and pictures as the contract declares them.
// It must not know how they are read; the service reads the open forms in wire/openai.
import * as Schema from "effect/Schema"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../wire/openai/Images.ts"
import { anyObject, maybe, rest } from "./shapes.ts"

export const EmbeddingsBody = Schema.StructWithRest(
  Schema.Struct({
    ...EmbeddingsParameters.fields,
    input: Schema.Union([Schema.String, Schema.Array(Schema.String), anyObject, Schema.Array(anyObject)]).annotate({
      description: "A text or several; objects of text, image and video for multimodal models."
    }),
    encoding_format: maybe(Schema.Literals(["float", "base64"])),
    labels: maybe(Schema.Record(Schema.String, Schema.String))
  }),
  rest
).annotate({ identifier: "EmbeddingsBody" })
export type EmbeddingsBody = typeof EmbeddingsBody.Type

export const ImagesBody = ImagesRequest.annotate({ identifier: "ImagesBody" })
export type ImagesBody = typeof ImagesBody.Type
