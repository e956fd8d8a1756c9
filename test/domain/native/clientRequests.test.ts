// Every captured request of an unchanged client: which path it has, whom it goes to, with which key, or which refusal it gets.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { clientDialect, knownPath, presentedKeys } from "../../../src/api/clientRequests.ts"
import { readNativeModel, readNativePath } from "../../../src/domain/native/nativePath.ts"
import { queryKey, readNativeQuery } from "../../../src/domain/native/nativeQuery.ts"
import { providerAccount } from "../../../src/domain/ProviderAccount.ts"
import { chooseAccount } from "../../../src/domain/ModelRef.ts"
import { type ClientRequest, clientRequests } from "../../support/clientRequests.ts"
import { loudlySkipped, sharedDir } from "../../support/shared.ts"

const stored = { _tag: "AccessToken", token: Redacted.make("ya29.stored") } as const
const accounts = [
  providerAccount({ slug: "vertex-ai", kind: "vertex-ai", credentials: stored }),
  providerAccount({ slug: "google", kind: "google", credentials: { _tag: "ApiKey", key: Redacted.make("AIza") } })
]

/** One line for what becomes of a request. */
const outcome = ({ request }: ClientRequest): string => {
  const [target = "", query = ""] = request.path.split("?")
  const keys = presentedKeys(request.headers, queryKey(query)).join(" ")
  const { path } = knownPath(target)
  const read = readNativePath(request.method, path, clientDialect(request.headers) === "google")
  if (read === undefined) return `${request.method} ${path} [${keys}]`
  switch (read._tag) {
    case "NotOffered":
      return `400 ${read.what} [${keys}]`
    case "Models":
      return `${read.form} models ${read.model ?? "*"} [${keys}]`
    case "WrongMethod":
      return `405 ${read.allow.join()}`
    case "Unknown":
      return "404"
    case "Call": {
      const model = Result.getOrThrow(readNativeModel(read, read.model))
      const slug =
        model.slug ??
        Result.getOrThrow(
          chooseAccount({
            model: model.rest,
            accounts,
            key: {},
            defaults: {},
            native: { kind: read.form === "google" ? "google" : "vertex-ai", slug: undefined },
            isCarried: false
          })
        )
      const place = read.place === undefined ? "" : ` at ${read.place.project}/${read.place.location}`
      const { framing } = Result.getOrThrow(readNativeQuery(query, read))
      const stream = read.verb === "streamGenerateContent" ? ` ${framing}` : ""
      return `${read.form} ${read.verb}${stream} ${model.family} ${model.modelId} -> ${slug}${place} [${keys}]`
    }
  }
}

const responses = "POST /v1/responses [mgk_test]"
const expected: Readonly<Record<string, string>> = {
  "agents-001": responses,
  "agents-002": responses,
  "aisdk-001": responses,
  "aisdk-002": responses,
  "aisdk-003": responses,
  "aisdk-004": responses,
  "avertex-001": "vertex rawPredict claude claude-sonnet-4-6 -> vertex-ai at p1/us-east5 [mgk_test]",
  "avertex-002": "vertex streamRawPredict claude claude-sonnet-4-6 -> vertex-ai at p1/us-east5 [mgk_test]",
  "codex-001": responses,
  "codex-002": responses,
  "codexcust-001": responses,
  "codexoai-001-upgrade": "GET /v1/responses [mgk_test]",
  "gcli-001": "google streamGenerateContent sse gemini gemini-2.5-flash -> google [mgk_test]",
  "gcliv-001": "vertex streamGenerateContent sse gemini gemini-2.5-flash -> vertex-ai [mgk_test]",
  "gcliv-002": "vertex streamGenerateContent sse gemini gemini-2.5-flash -> vertex-ai [mgk_test]",
  "genai-001": "google generateContent gemini gemini-2.5-flash -> google [mgk_test]",
  "genai-002": "google generateContent gemini gemini-2.5-flash -> google [mgk_test]",
  "genai-004": "400 tunedModels [mgk_test]",
  "genai-007": "google batchEmbedContents gemini gemini-embedding-001 -> google [mgk_test]",
  "genai-008": "google models * [mgk_test]",
  "genai-010": "400 cachedContents [mgk_test]",
  "genai-011": "400 files [mgk_test]",
  "genai-012": "400 upload [mgk_test]",
  "genai-013": "400 batches [mgk_test]",
  "genai-014": "400 interactions [mgk_test]",
  "genai-015-upgrade": "400 Live (BidiGenerateContent) [mgk_test]",
  "genaiv-001": "vertex generateContent gemini gemini-2.5-flash -> vertex-ai [mgk_test]",
  "genaiv-002": "vertex generateContent gemini gemini-2.5-flash -> vertex-ai [mgk_test]",
  "genaiv-004": "vertex predict gemini gemini-embedding-001 -> vertex-ai [mgk_test]",
  "genaiv-005": "vertex embedContent gemini gemini-embedding-2-preview -> vertex-ai [mgk_test]",
  "genaiv-007": "vertex predict gemini imagen-4.0-generate-001 -> vertex-ai [mgk_test]",
  "genaiv-008": "vertex models * [mgk_test]",
  "genaiv-010": "vertex generateContent gemini gemini-2.5-flash -> vertex-ai at p1/us-central1 [mgk_test]",
  "genaiv-011": "vertex models * [mgk_test]",
  "genkit-001": "google generateContent gemini gemini-2.5-flash -> google [mgk_test]",
  "gother-001": "google generateContent gemini gemini-2.5-flash -> google [mgk_test]",
  "gother-003": "google generateContent gemini gemini-2.5-flash -> google [mgk_test]",
  "gother-004": "google streamGenerateContent sse gemini gemini-2.5-flash -> google [mgk_test]",
  "gother-006": "google predict gemini imagen-4.0-generate-001 -> google [mgk_test]",
  "gother-007": "vertex generateContent gemini gemini-2.5-flash -> vertex-ai at p1/us-central1 [mgk_test]",
  "gother-009": "vertex predict gemini gemini-embedding-001 -> vertex-ai [mgk_test]",
  "gother-011": "google generateContent gemini gemini-2.5-flash -> google [mgk_test]",
  "gother-012": "google generateContent gemini gemini-2.5-flash -> google [mgk_test]",
  "lc-001": responses,
  "lc-002": responses
}

describe("requests of unchanged clients", () => {
  if (sharedDir() === undefined) loudlySkipped("captured requests of clients")
  it.runIf(sharedDir() !== undefined)("client requests: each has its place or its refusal (N1101)", () => {
    expect(Object.fromEntries(clientRequests().map((one) => [one.id, outcome(one)]))).toStrictEqual(expected)
  })
})
