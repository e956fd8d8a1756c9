// The OpenAPI document of the whole service, rendered from the combined API and freed of the wrappers of Effect's renderer.
// It must not know how the document is served, or any endpoint.
import * as OpenApi from "effect/http-api/OpenApi"
import { version } from "../domain/version.ts"
import { AdminApi } from "./AdminApi.ts"
import { GatewayApi } from "./GatewayApi.ts"
import { statusMeanings } from "./contractParts.ts"

// Simplifies the rendered OpenAPI document: removes the codec and stream wrappers of Effect's renderer.

type Node = { readonly [name: string]: unknown }
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)
const inside = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce((node, name) => (isNode(node) ? node[name] : undefined), value)

/** NaN and both infinities. Effect's codecs would write them as text; the service never sends them. */
const isNoNumber = (value: unknown): boolean => {
  const words = inside(value, "enum")
  return Array.isArray(words) && words.includes("NaN")
}

/** A component that is JSON text inside a string: the data line of an event. */
const isText = (component: unknown): boolean => inside(component, "contentMediaType") === "application/json"

/** A union without the members for NaN and infinities; a union of one member becomes that member. */
const without = ({ anyOf, ...beside }: Node): Node => {
  const left: ReadonlyArray<unknown> = Array.isArray(anyOf) ? anyOf.filter((one) => !isNoNumber(one)) : []
  return left.length === 1 && isNode(left[0]) ? { ...left[0], ...beside } : { anyOf: left, ...beside }
}

/** `components` are the components of the document before the rewrite. */
const rewrite = (value: unknown, components: Node): unknown => {
  if (Array.isArray(value)) return value.map((one) => rewrite(one, components))
  if (!isNode(value)) return value
  const choices = value["anyOf"]
  if (Array.isArray(choices) && choices.some(isNoNumber)) return rewrite(without(value), components)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === "text/event-stream") return [name, { schema: eventOf(inner, components) }]
      return [
        name,
        name === "responses" && isNode(inner) ? withMeanings(inner, components) : rewrite(inner, components)
      ]
    })
  )
}

/** Describes an event stream by the JSON of its data lines. The description of the operation explains the framing. */
const eventOf = (mediaType: unknown, components: Node): unknown => {
  const data = inside(mediaType, "schema", "properties", "data")
  const reference = inside(data, "$ref")
  const text = typeof reference === "string" ? components[reference.slice(reference.lastIndexOf("/") + 1)] : data
  return rewrite(inside(text, "contentSchema"), components)
}

const meanings: { readonly [status: string]: string } = {
  ...statusMeanings,
  200: "The answer.",
  201: "It is made.",
  204: "It is gone."
}

const withMeanings = (responses: Node, components: Node): Node =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const rewritten = rewrite(response, components)
      return [
        status,
        isNode(rewritten) ? { ...rewritten, description: meanings[status] ?? rewritten["description"] } : rewritten
      ]
    })
  )

const onlyRead = (components: Node): Node =>
  Object.fromEntries(Object.entries(components).filter(([, one]) => !isText(one)))

/** Rewrites the whole document. */
const simplifyOpenApi = (document: Node): Node => {
  const components = inside(document, "components")
  const schemas = inside(components, "schemas")
  if (!isNode(components) || !isNode(schemas)) return document
  const rewritten = rewrite({ ...document, components: { ...components, schemas: onlyRead(schemas) } }, schemas)
  return isNode(rewritten) ? rewritten : document
}

// The OpenAPI document of the whole service, and the combined API it is rendered from.

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

/** The API as it is reached below a path of a reverse proxy; empty for none. */
export const apiBelow = (base: string) => (base === "" ? WholeApi : WholeApi.annotate(OpenApi.Servers, [{ url: base }]))

/** The OpenAPI 3.1 document. */
export const openApi = (base = ""): OpenApi.OpenAPISpec => OpenApi.fromApi(apiBelow(base))
