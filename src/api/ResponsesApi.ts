// The Responses API as declarations: a response, its stream, and the routes of kept ones.
// It must not know handlers; the wire schemas define a response.
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { ResponsesEvent } from "../wire/openai/responses/Events.ts"
import { ResponsesParameters } from "../wire/openai/responses/Request.ts"
import { ResponseDeleted, ResponseItemList, ResponseObject } from "../wire/openai/responses/Response.ts"
import { maybe } from "../wire/json.ts"
import { gatewayAnswer, orDryRun } from "./answers.ts"
import { GatewayAuth } from "./Auth.ts"
import { keptErrors, modelErrors, unansweredErrors } from "./ErrorBodies.ts"
import { requestHeaders } from "./headerFields.ts"
import { openFields, openObject } from "./shapes.ts"

const about = (summary: string, description?: string) =>
  OpenApi.annotations(description === undefined ? { summary } : { summary, description })

export const ResponsesBody = Schema.StructWithRest(
  Schema.Struct({
    ...ResponsesParameters.fields,
    model: maybe(
      Schema.String.annotate({
        description: "@slug/model; it may be missing where a prompt or a config has one."
      })
    ),
    input: maybe(Schema.Union([Schema.String, Schema.Array(openObject)])),
    tools: maybe(Schema.Array(openObject)),
    include: maybe(Schema.Array(Schema.String))
  }),
  openFields
).annotate({ identifier: "ResponsesBody" })
export interface ResponsesBody extends Schema.Schema.Type<typeof ResponsesBody> {}

export const ResponseAnswer = ResponseObject.annotate({ identifier: "Response" })
export interface ResponseAnswer extends Schema.Schema.Type<typeof ResponseAnswer> {}
export const InputTokens = Schema.Struct({
  object: Schema.Literal("response.input_tokens"),
  input_tokens: Schema.Number
}).annotate({ identifier: "ResponseInputTokens" })
export interface InputTokens extends Schema.Schema.Type<typeof InputTokens> {}

const asked = { headers: requestHeaders, error: modelErrors, payload: ResponsesBody } as const
const kept = {
  params: { id: Schema.String.annotate({ description: "The id of a response that this key has made." }) },
  error: keptErrors
} as const

export class Responses extends HttpApiGroup.make("responses")
  .add(
    HttpApiEndpoint.post("create", "/v1/responses", {
      ...asked,
      success: [
        orDryRun(ResponseAnswer),
        HttpApiSchema.StreamSse({ data: ResponsesEvent.annotate({ identifier: "ResponsesEvent" }) })
      ]
    }).annotateMerge(
      about(
        "A response",
        "With stream: true the answer is an event stream of named events, and the last one has the whole response. A failure after the first byte is an event named error, then response.failed."
      )
    ),
    HttpApiEndpoint.post("countTokens", "/v1/responses/input_tokens", {
      ...asked,
      success: orDryRun(InputTokens)
    }).annotateMerge(about("What a response would cost in tokens of input")),
    HttpApiEndpoint.post("compact", "/v1/responses/compact", {
      success: HttpApiSchema.NoContent,
      error: unansweredErrors
    }).annotateMerge(about("Always refused with 400", "Conversations are not compacted here.")),
    HttpApiEndpoint.get("retrieve", "/v1/responses/:id", {
      ...kept,
      query: {
        "include[]": Schema.optionalKey(Schema.Array(Schema.String)),
        stream: Schema.optionalKey(Schema.Literals(["false"]))
      },
      success: gatewayAnswer(ResponseAnswer)
    }).annotateMerge(about("A kept response")),
    HttpApiEndpoint.delete("delete", "/v1/responses/:id", {
      ...kept,
      success: gatewayAnswer(ResponseDeleted.annotate({ identifier: "ResponseDeleted" }))
    }).annotateMerge(about("Removes a kept response", "Responses that continue it can be read, and not be continued.")),
    HttpApiEndpoint.get("listInput", "/v1/responses/:id/input_items", {
      ...kept,
      query: {
        limit: Schema.optionalKey(Schema.String.annotate({ description: "1 to 100; 20 unless set." })),
        order: Schema.optionalKey(Schema.Literals(["asc", "desc"])),
        after: Schema.optionalKey(Schema.String.annotate({ description: "The last item of the page before." }))
      },
      success: gatewayAnswer(ResponseItemList.annotate({ identifier: "ResponseItemList" }))
    }).annotateMerge(about("The input of a kept response, without what it continues")),
    HttpApiEndpoint.post("cancel", "/v1/responses/:id/cancel", {
      ...kept,
      success: HttpApiSchema.NoContent
    }).annotateMerge(about("Always refused with 400", "No response is made in the background."))
  )
  .middleware(GatewayAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Responses", description: "OpenAI's second dialect, for every chat model." })
  ) {}
