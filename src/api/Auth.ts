// Security schemes of the contract: the headers that may carry a gateway key.
// It must not know keys; http/edge/GatewayAuth.ts checks them.
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"

const inHeader = (key: string, description: string) =>
  HttpApiSecurity.annotate(HttpApiSecurity.apiKey({ in: "header", key }), OpenApi.Description, description)

const security = {
  gatewayKey: inHeader(
    "x-gateway-api-key",
    "The gateway's own header; it leaves Authorization free for a provider's credential."
  ),
  bearer: HttpApiSecurity.annotate(HttpApiSecurity.bearer, OpenApi.Description, "Where OpenAI's SDK puts its key."),
  xApiKey: inHeader("x-api-key", "Where Anthropic's SDK puts its key."),
  xGoogApiKey: inHeader("x-goog-api-key", "Where Google's SDK puts its key."),
  apiKey: inHeader("api-key", "Where Azure's SDK puts its key.")
}

/** Any one header is enough. All but the first count as a gateway key only with the prefix `mgk_`. */
export class GatewayAuth extends HttpApiMiddleware.Service<GatewayAuth>()("gateway/api/GatewayAuth", { security }) {}
