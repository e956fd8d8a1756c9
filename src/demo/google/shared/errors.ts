// Makes Google's error bodies `{error:{code,message,status,details}}`, with the HTTP status of each canonical code.
// Must not depend on the operations that raise them.
// Source: google.rpc.Status and recorded refusals.

import type { Route } from "./routes.ts"

export interface GoogleError {
  readonly code: number
  readonly message: string
  readonly status: string
  readonly details?: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const httpStatus = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503
}

export const googleError = (
  status: keyof typeof httpStatus,
  message: string,
  details?: ReadonlyArray<Readonly<Record<string, unknown>>>
): GoogleError => ({ code: httpStatus[status], message, status, ...(details === undefined ? {} : { details }) })

/** The detail with the machine-readable reason. */
export const errorInfo = (reason: string, metadata: Readonly<Record<string, string>>, domain = "googleapis.com") => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain,
  metadata
})

export const retryInfo = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay })

/** 400 with the violated fields, as Google's JSON reader answers. */
export const badRequest = (
  violations: ReadonlyArray<{ readonly field: string; readonly description: string }>
): GoogleError =>
  googleError("INVALID_ARGUMENT", violations.map((violation) => violation.description).join("\n"), [
    { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: violations }
  ])

/** Vertex AI's 404 for an unknown model of any publisher. */
export const publisherModelMissing = ({ project, location, target }: Route): GoogleError => {
  const place = project === undefined ? "" : `projects/${project}/locations/${location}/`
  const publisher = target.kind === "model" ? target.publisher : ""
  const message =
    `Publisher Model \`${place}publishers/${publisher}/models/${target.id}\` was not found or your project does not have access to it. ` +
    "Please ensure you are using a valid model version."
  return googleError("NOT_FOUND", message)
}

/** 400 without field violations, for a value in the free part of a body. */
export const invalidArgument = (message: string): GoogleError => googleError("INVALID_ARGUMENT", message)

/** The page of Google's front end for an unknown path. */
export const notFoundPage = (path: string): string =>
  `<!DOCTYPE html>\n<html lang=en>\n  <meta charset=utf-8>\n  <title>Error 404 (Not Found)!!1</title>\n` +
  `  <p><b>404.</b> <ins>That’s an error.</ins>\n` +
  `  <p>The requested URL <code>${path.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</code> was not found on this server.\n`
