// The OpenAPI document of the whole service, and the combined API it is rendered from.
// It must not know how the document is served.
import * as OpenApi from "effect/http-api/OpenApi"
import { version } from "../domain/version.ts"
import { AdminApi } from "./AdminApi.ts"
import { GatewayApi } from "./GatewayApi.ts"
import { simplifyOpenApi } from "./simplifyOpenApi.ts"

/** All APIs of the service. A further API is added here in one line. */
export const WholeApi = GatewayApi.addHttpApi(AdminApi).annotateMerge(
  OpenApi.annotations({
    title: "model-gateway",
    version,
    description:
      "An OpenAI-compatible gateway in front of Google's model platforms: Vertex AI and the Gemini Developer API. " +
      "Every header x-gateway-NAME may be written x-portkey-NAME; the answer then has its headers under both names. " +
      "The guides are at /docs/index.",
    license: { name: "MIT", identifier: "MIT" },
    servers: [{ url: "/" }],
    transform: simplifyOpenApi
  })
)

/** The OpenAPI 3.1 document. */
export const openApi = (): OpenApi.OpenAPISpec => OpenApi.fromApi(WholeApi)
