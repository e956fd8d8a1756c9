// Errors in Google's envelope: our own and an upstream's, whole bodies.
import { describe, expect, it } from "vitest"
import { errorFacts } from "../../../src/api/errorFacts.ts"
import {
  BodyInvalid,
  BudgetSpent,
  type GatewayError,
  KeyMissing,
  MethodNotAllowed,
  ProviderMissing,
  RouteUnknown,
  UnsupportedOperation
} from "../../../src/domain/GatewayError.ts"
import { ProviderError } from "../../../src/domain/ProviderError.ts"
import { googleErrorBody } from "../../../src/http/response/errorBody.ts"
import { failureFromNative } from "../../../src/translate/native/nativeFailure.ts"
import { loudlySkipped, recordings, sharedDir } from "../../support/shared.ts"

const body = (error: GatewayError): unknown => JSON.parse(googleErrorBody(error, errorFacts(error), "r1"))
const info = (reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "model-gateway",
  metadata: { requestId: "r1" }
})
const violation = (field: string, description: string) => ({
  "@type": "type.googleapis.com/google.rpc.BadRequest",
  fieldViolations: [{ field, description }]
})
const request = { "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId: "r1" }

describe("errors in Google's envelope: our own", () => {
  it.each<readonly [string, GatewayError, object]>([
    [
      "a missing key",
      new KeyMissing(),
      {
        code: 401,
        message: "No gateway key: send it as x-gateway-api-key, or as the API key of your SDK.",
        status: "UNAUTHENTICATED",
        details: [info("MISSING_GATEWAY_KEY")]
      }
    ],
    [
      "a bad body",
      new BodyInvalid({ code: "invalid_value", param: "model", message: "model is wrong." }),
      {
        code: 400,
        message: "model is wrong.",
        status: "INVALID_ARGUMENT",
        details: [info("INVALID_VALUE"), violation("model", "model is wrong.")]
      }
    ],
    [
      "a refusal by name",
      new UnsupportedOperation({ message: "files is not offered." }),
      {
        code: 400,
        message: "files is not offered.",
        status: "FAILED_PRECONDITION",
        details: [info("UNSUPPORTED_OPERATION")]
      }
    ],
    [
      "an unknown path",
      new RouteUnknown({ method: "POST", path: "/v1beta/x" }),
      {
        code: 404,
        message:
          "There is no such path here. Served are generateContent, streamGenerateContent, countTokens, computeTokens, embedContent, batchEmbedContents, predict, rawPredict, streamRawPredict of models, and lists of models.",
        status: "NOT_FOUND",
        details: [info("UNKNOWN_URL")]
      }
    ],
    [
      "a wrong method",
      new MethodNotAllowed({ method: "GET", allow: ["POST"] }),
      {
        code: 405,
        message: "This URL takes POST only.",
        status: "UNIMPLEMENTED",
        details: [info("METHOD_NOT_ALLOWED")]
      }
    ],
    [
      "no provider",
      new ProviderMissing({ known: ["a", "b"] }),
      {
        code: 400,
        message: 'No provider chosen: write the model as "@slug/model" or send x-gateway-provider; known here: a, b.',
        status: "INVALID_ARGUMENT",
        details: [
          info("PROVIDER_MISSING"),
          violation(
            "model",
            'No provider chosen: write the model as "@slug/model" or send x-gateway-provider; known here: a, b.'
          )
        ]
      }
    ],
    [
      "a spent budget",
      new BudgetSpent({
        usd: 5,
        per: "day",
        estimateUsd: 0.0000075,
        leftUsd: 0.000001,
        resets: "2026-11-23",
        retryMillis: 1500,
        isReserved: false
      }),
      {
        code: 429,
        message:
          "This request may cost 0.000008 US dollars, and 0.000001 are left of the gateway key's budget of 5 a day. Lower max_tokens, or let an operator raise budget.usd of the key; the next day begins 2026-11-23.",
        status: "RESOURCE_EXHAUSTED",
        details: [
          info("INSUFFICIENT_QUOTA"),
          {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            violations: [
              {
                quotaId: "GatewayBudgetPerDay",
                description: "The budget of the gateway key does not cover the request."
              }
            ]
          },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" }
        ]
      }
    ],
    [
      "a refused stored credential",
      new ProviderError({
        slug: "a",
        reason: failureFromNative(
          400,
          {},
          {
            error: {
              code: 400,
              message: "API key not valid.",
              status: "INVALID_ARGUMENT",
              details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }]
            }
          },
          "stored"
        ),
        upstreamStatus: 400
      }),
      { code: 502, message: "API key not valid.", status: "INTERNAL", details: [info("UPSTREAM_CREDENTIALS_REJECTED")] }
    ]
  ])("Google's envelope: %s (N1001)", (_name, error, expected) => {
    expect(body(error)).toStrictEqual({ error: expected })
  })
})

describe("errors in Google's envelope: of an upstream", () => {
  const recordedBody = (folder: string, id: string) => {
    const one = recordings(folder).find((recording) => recording.id === `${folder}/${id}`)
    const failure = failureFromNative(
      one?.response.status ?? 0,
      {},
      JSON.parse(JSON.stringify(one?.response.body ?? null)),
      "stored"
    )
    return body(new ProviderError({ slug: "a", reason: failure, upstreamStatus: one?.response.status ?? 0 }))
  }
  if (sharedDir() === undefined) loudlySkipped("recorded refusals of Google")
  it.runIf(sharedDir() !== undefined)(
    "Google's envelope: the delay and the quota of a recorded refusal are kept (N1002)",
    () => {
      expect(recordedBody("gemini-api", "generate-gemini-2-5-flash-error-429-resource-exhausted-2")).toStrictEqual({
        error: {
          code: 429,
          message: "You exceeded your current quota, please check your plan.",
          status: "RESOURCE_EXHAUSTED",
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.QuotaFailure",
              violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" }]
            },
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
            request
          ]
        }
      })
    }
  )
  it.runIf(sharedDir() !== undefined)(
    "Google's envelope: projects and consumers of a recorded refusal are left out (N1002)",
    () => {
      expect(
        recordedBody("gemini-api", "generate-error-403-permission-denied-generativelanguage-api-not-enabled")
      ).toStrictEqual({
        error: {
          code: 403,
          message:
            "Generative Language API has not been used in project [redacted] before or it is disabled. Enable it by visiting [link] then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.",
          status: "PERMISSION_DENIED",
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.Help",
              links: [{ description: "Google developers console API activation", url: "[link]" }]
            },
            {
              "@type": "type.googleapis.com/google.rpc.ErrorInfo",
              reason: "SERVICE_DISABLED",
              domain: "googleapis.com",
              metadata: { service: "generativelanguage.googleapis.com" }
            },
            request
          ]
        }
      })
      for (const folder of ["gemini-api", "vertex-gemini"]) {
        for (const { id, response } of recordings(folder)) {
          if (response.status < 400) continue
          const text = JSON.stringify(recordedBody(folder, id.slice(folder.length + 1)))
          expect([id, /test-project|123456789012/.test(text)]).toStrictEqual([id, false])
        }
      }
    }
  )
})
