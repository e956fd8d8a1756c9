// Tests the attack runner: it finds credentials in any spelling and answers of another form, and repeats by its seed.
// Must not start a gateway; `npm run attack` does.
import { describe, expect, it } from "vitest"
import { apiKey, encodings, findEncodedLeak, keys, findLeak, secretKey, serviceAccount } from "./canaries.ts"
import type { Answer } from "./client.ts"
import { generateRequest } from "./generator.ts"
import { judge } from "./judge.ts"

describe("search for credentials", () => {
  const written: ReadonlyArray<readonly [how: string, text: string]> = [
    ["as it is", apiKey],
    ["in a URL", encodeURIComponent(apiKey)],
    ["in a URL within a URL", encodeURIComponent(encodeURIComponent(apiKey))],
    ["in JSON within JSON", JSON.stringify(JSON.stringify({ key: apiKey }))],
    ["in capitals", apiKey.toUpperCase()],
    ["without its ends", apiKey.slice(5, -11)]
  ]
  it.each(written)("credential search: finds a credential %s", (_, text) => {
    expect(findLeak(`The key ${text} was refused.`)).toBe("credential gemini")
  })

  it("credential search: finds a credential in each encoding that an upstream may answer with", () => {
    expect(encodings(`Bearer ${apiKey}`).map((text) => findEncodedLeak(`Refused: ${text}.`))).toEqual(
      encodings("").map(() => "credential gemini")
    )
    expect(findEncodedLeak("Refused: [redacted].")).toBeUndefined()
  })

  it("credential search: finds gateway keys, lines of a private key and the secret key", () => {
    expect([findLeak(keys.admin), findLeak(JSON.stringify(serviceAccount)), findLeak(secretKey)]).toEqual([
      "gateway key admin",
      "private key, line 2",
      "secret key, encoded"
    ])
  })

  it("credential search: finds what the request did not send itself", () => {
    const sent = JSON.stringify({ text: apiKey })
    expect([
      findLeak(`${apiKey} ${keys.admin}`, sent),
      findLeak(sent, sent),
      judge({ method: "POST", path: "/v1/models", sent }, answer(200, { text: apiKey })).faults
    ]).toEqual(["gateway key admin", undefined, []])
    expect(
      judge({ method: "POST", path: "/v1/models", sent }, answer(200, {}, { headers: { "x-a": apiKey } })).faults
    ).toEqual(["shows credential gemini"])
  })

  it("credential search: finds nothing in what an operator may see", () => {
    expect([
      findLeak(keys.plain.slice(0, 12)),
      findLeak(apiKey.slice(-4)),
      findLeak(serviceAccount.client_email)
    ]).toEqual([undefined, undefined, undefined])
  })
})

const answer = (status: number, body: unknown, more: Partial<Answer> = {}): Answer => ({
  status,
  headers: { "x-request-id": "r1", "content-type": "application/json" },
  body: JSON.stringify(body),
  millis: 5,
  ...more
})
const error = { message: "No.", type: "invalid_request_error", param: null, code: "invalid_value" }
const problem = { type: "urn:model-gateway:error:x", title: "x", status: 404, detail: "No.", instance: "r1" }
const asProblem = { headers: { "x-request-id": "r1", "content-type": "application/problem+json" } }

describe("judge of answers", () => {
  const sound: ReadonlyArray<readonly [path: string, answer: Answer]> = [
    ["/v1/chat/completions", answer(200, {})],
    ["/v1/chat/completions", answer(400, { error })],
    [
      "/v1/chat/completions",
      answer(502, { error: { ...error, type: "api_error", provider: "google", upstream_status: 500 } })
    ],
    [
      "/v1/messages",
      answer(400, { type: "error", error: { type: "invalid_request_error", message: "No." }, request_id: "r1" })
    ],
    ["/admin/v1/keys/x", answer(404, problem, asProblem)],
    ["/health/ready", answer(503, { status: "starting" })]
  ]
  it.each(sound)("judge: accepts a sound answer of %s", (path, one) => {
    expect(judge({ method: "POST", path }, one)).toEqual({ faults: [], isSlow: false })
  })

  const planted: ReadonlyArray<readonly [what: string, path: string, answer: Answer, fault: string]> = [
    ["a 500", "/v1/models", answer(500, { error }), `answered 500: ${JSON.stringify({ error })}`],
    ["no answer", "/v1/models", answer(0, "", { body: "ECONNRESET" }), "no answer: ECONNRESET"],
    ["a credential", "/v1/models", answer(200, { text: encodeURIComponent(apiKey) }), "shows credential gemini"],
    [
      "a credential in a header",
      "/v1/models",
      answer(200, {}, { headers: { "x-a": apiKey } }),
      "shows credential gemini"
    ],
    ["another form", "/v1/models", answer(400, problem), `400 with a body of another form: ${JSON.stringify(problem)}`],
    [
      "a field too many",
      "/v1/models",
      answer(400, { error, stack: "x" }),
      `400 with a body of another form: ${JSON.stringify({ error, stack: "x" })}`
    ],
    ["an empty body", "/v1/models", answer(400, {}, { body: "" }), "400 with a body of another form: "],
    [
      "OpenAI's form for operators",
      "/admin/v1/keys",
      answer(404, { error }),
      `404 with a body of another form: ${JSON.stringify({ error })}`
    ],
    ["no request id", "/v1/models", answer(400, { error }, { headers: {} }), "400 without x-request-id"],
    [
      "another form within a stream",
      "/v1/chat/completions",
      answer(200, {}, { headers: { "content-type": "text/event-stream" }, body: 'data: {"error":"no"}\n\n' }),
      'an error within the stream of another form: {"error":"no"}'
    ]
  ]
  it.each(planted)("judge: finds %s", (_, path, one, fault) => {
    expect(judge({ method: "POST", path }, one).faults).toEqual([fault])
  })

  it("judge: subtracts the wait for the upstream from the time of an answer", () => {
    const late = answer(200, {}, { millis: 2_600 })
    expect([
      judge({ method: "POST", path: "/v1/models" }, late).isSlow,
      judge({ method: "POST", path: "/v1/models", waits: 1_500 }, late).isSlow
    ]).toEqual([true, false])
    // The machine was busy with others: the gateway worked for it a tenth of that time.
    expect(judge({ method: "POST", path: "/v1/models", cpu: 260 }, late).isSlow).toBe(false)
  })
})

describe("generator of requests", () => {
  it("generator: makes the same requests from the same seed, and others from another", () => {
    const some = (seed: number) =>
      JSON.stringify(Array.from({ length: 200 }, (_, place) => generateRequest(seed, place)))
    expect(some(1)).toBe(some(1))
    expect(some(1)).not.toBe(some(2))
  })

  it("generator: makes no body longer than what five changes can add", () => {
    const longest = Math.max(
      ...Array.from({ length: 4_000 }, (_, place) => Buffer.byteLength(generateRequest(99, place).request.body ?? ""))
    )
    expect(longest).toBeLessThan(8 * 2 ** 20)
  })

  it("generator: reaches every route, with every method", () => {
    const requests = Array.from({ length: 4_000 }, (_, place) => generateRequest(3, place).request)
    const paths = new Set(requests.map(({ path }) => path))
    const routes = [
      "/v1/chat/completions",
      "/v1/chat/completions/count_tokens",
      "/v1/messages",
      "/v1/messages/count_tokens",
      "/v1/embeddings",
      "/v1/images/generations",
      "/v1/models",
      "/v1/prompts/greeting/completions",
      "/v1/prompts/greeting@1/render",
      "/admin/v1/providers",
      "/admin/v1/keys/plain",
      "/admin/v1/configs",
      "/admin/v1/prompts",
      "/admin/v1/audit?limit=5",
      "/health/ready",
      "/metrics",
      "/openapi.json",
      "/v2",
      "/raw"
    ]
    expect(routes.filter((path) => !paths.has(path))).toEqual([])
    expect([...new Set(requests.map(({ method }) => method))].toSorted()).toEqual([
      "DELETE",
      "GET",
      "HEAD",
      "OPTIONS",
      "PATCH",
      "POST",
      "PUT",
      "RAW",
      "TRACE"
    ])
  })
})
