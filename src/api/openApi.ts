// The OpenAPI document of the whole service, and the API it is rendered from.
// It must not know how it is served.
import * as OpenApi from "effect/http-api/OpenApi"
import { version } from "../domain/version.ts"
import { AdminApi } from "./AdminApi.ts"
import { GatewayApi } from "./GatewayApi.ts"
import { plainly } from "./plainly.ts"

/** Further APIs of the service are added here, a line each. */
export const WholeApi = GatewayApi.addHttpApi(AdminApi).annotateMerge(
  OpenApi.annotations({
    title: "model-gateway",
    version,
    description:
      "An OpenAI-compatible gateway in front of Google's model platforms: Vertex AI and the Gemini Developer API. " +
      "Every header x-gateway-NAME may be written x-portkey-NAME; the answer then has its headers under both names.",
    license: { name: "MIT", identifier: "MIT" },
    servers: [{ url: "/" }],
    transform: plainly
  })
)

/** OpenAPI 3.1. */
export const openApi = (): OpenApi.OpenAPISpec => OpenApi.fromApi(WholeApi)
