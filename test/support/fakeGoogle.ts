// A Google on loopback: token exchange, generateAccessToken, an identity provider, and a model that answers.
// Must not know the gateway; it keeps what it was asked.
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"

export interface Asked {
  readonly line: string
  readonly authorization: string | undefined
  readonly body: string
}

export interface FakeGoogle {
  readonly origin: string
  readonly asked: ReadonlyArray<Asked>
  readonly close: () => Promise<void>
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

const answers: ReadonlyArray<readonly [path: RegExp, answer: () => unknown]> = [
  [/^\/v1\/(token|oauthtoken)$/, () => ({ access_token: "federated-token", expires_in: 3600, token_type: "Bearer" })],
  [
    /:generateAccessToken$/,
    () => ({ accessToken: "impersonated-token", expireTime: new Date(Date.now() + 3_600_000).toISOString() })
  ],
  [
    /^\/computeMetadata\/v1\/instance\/service-accounts\/default\/token$/,
    () => ({ access_token: "metadata-token", expires_in: 3600, token_type: "Bearer" })
  ],
  [/^\/refused\/token$/, () => undefined],
  [
    /^\/v1\/projects\/p\/secrets\/gemini-key\/versions\/\w+:access$/,
    () => ({ payload: { data: Buffer.from("AIza-of-secret-manager\n").toString("base64") } })
  ],
  [/^\/identity$/, () => ({ value: "subject-of-url" })],
  [
    /:generateContent$/,
    () => ({ candidates: [{ content: { role: "model", parts: [{ text: "Hello." }] }, finishReason: "STOP" }] })
  ]
]

export const startFakeGoogle = async (): Promise<FakeGoogle> => {
  const asked: Array<Asked> = []
  const server = createServer((request, response) => {
    void textOf(request).then((body) => {
      const path = new URL(request.url ?? "", "http://google").pathname
      asked.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization, body })
      const answer = answers.find(([pattern]) => pattern.test(path))?.[1]()
      response.setHeader("content-type", "application/json")
      response.setHeader("metadata-flavor", "Google")
      response.statusCode = answer === undefined ? 400 : 200
      // A refusal repeats all that it was sent, as a careless server does.
      const refusal = { error: "invalid_grant", error_description: `The request ${body} is refused.` }
      response.end(JSON.stringify(answer ?? refusal))
    })
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const { port } = address
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  }
}
