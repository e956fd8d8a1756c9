// Contract schemas of the embeddings and image generation request bodies.
// It must not know how a body is read; the service reads the open schemas in wire/openai.
import * as Schema from "effect/Schema"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../wire/openai/Images.ts"
import { maybe } from "../wire/json.ts"
import { openObject, openFields } from "./shapes.ts"

export const EmbeddingsBody = Schema.StructWithRest(
  Schema.Struct({
    ...EmbeddingsParameters.fields,
    input: Schema.Union([Schema.String, Schema.Array(Schema.String), openObject, Schema.Array(openObject)]).annotate({
      description: "A text or several; objects of text, image and video for multimodal models."
    }),
    encoding_format: maybe(Schema.Literals(["float", "base64"])),
    labels: maybe(Schema.Record(Schema.String, Schema.String))
  }),
  openFields
).annotate({ identifier: "EmbeddingsBody" })
export interface EmbeddingsBody extends Schema.Schema.Type<typeof EmbeddingsBody> {}

export const ImagesBody = ImagesRequest.annotate({ identifier: "ImagesBody" })
export interface ImagesBody extends Schema.Schema.Type<typeof ImagesBody> {}
