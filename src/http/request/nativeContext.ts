// The context of a request in one of Google's own dialects: kind of the path, its place, and Google's own deadline.
// It must not depend on bodies or routes. Rules: N201, N206, N207, N210, N211.
import * as Result from "effect/Result"
import type { HeaderRecord } from "../../api/Headers.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { NativeCall } from "../../domain/native/nativePath.ts"
import type { BuiltInKind, CarriedCredentials } from "../../domain/ProviderAccount.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import { servingHeaders } from "./servingHeaders.ts"

/** The operator's slugs for the two forms of Google's paths. */
export interface NativeSlugs {
  readonly google?: string | undefined
  readonly vertex?: string | undefined
}

const kinds: Readonly<Record<NativeCall["form"], BuiltInKind>> = { google: "google", vertex: "vertex-ai" }

/** A location of `-` means none. */
const named = (text: string | undefined): string | undefined => (text === "-" ? undefined : text)

/** Project and location of the path, unless a header of the gateway names a place. */
const withPathPlace = (carried: CarriedCredentials, { place }: NativeCall): CarriedCredentials =>
  place === undefined || carried.vertexProjectId !== undefined || carried.vertexRegion !== undefined
    ? carried
    : { ...carried, vertexProjectId: named(place.project), vertexRegion: named(place.location), isPathPlace: true }

const seconds = /^(\d{1,6})(\.\d{1,9})?$/

const deadlineOf = (headers: HeaderRecord, { deadlineMillis, startedMillis }: RequestContext): number | undefined => {
  const asked = headers["x-server-timeout"]?.trim() ?? ""
  if (!seconds.test(asked) || Number(asked) === 0) return deadlineMillis
  const own = startedMillis + Math.ceil(Number(asked) * 1000)
  return deadlineMillis === undefined ? own : Math.min(own, deadlineMillis)
}

/** The context with the facts of the path and of Google's own headers. */
export const nativeContext = (
  read: Result.Result<RequestContext, GatewayError>,
  call: NativeCall,
  headers: HeaderRecord,
  slugs: NativeSlugs
): Result.Result<RequestContext, GatewayError> =>
  Result.map(read, (context) => ({
    ...context,
    deadlineMillis: deadlineOf(headers, context),
    carried: withPathPlace(context.carried, call),
    native: { kind: kinds[call.form], slug: slugs[call.form] }
  }))

const noHeaders: Readonly<Record<string, string>> = {}

/** The headers of a client of Vertex AI that choose how it is served. */
export const nativeServingHeaders = (headers: HeaderRecord, { form }: NativeCall): Readonly<Record<string, string>> =>
  (form === "vertex" ? servingHeaders(headers) : undefined) ?? noHeaders
