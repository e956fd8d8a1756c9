// Collects the content of one request while it runs: the bytes that came, the bodies that were sent, the answer.
// Must not know where content is kept. It holds a bounded part of each, and headers never.
import { presentedKeys } from "../api/clientRequests.ts"
import { gatewayHeader, type HeaderRecord, requestHeaderNames, withoutBearer } from "../api/Headers.ts"
import type { ContentCall, ContentMode, ContentText, RequestContent } from "../domain/RequestRow.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { ObservedCall } from "../domain/RequestContext.ts"
import { withoutQueryKeys } from "../domain/text/publicText.ts"
import { scrub } from "../domain/text/redaction.ts"
import { adjustmentText } from "../translate/Translator.ts"

/** A credential at the cut is recognised by what follows it. */
const marginBytes = 8 * 1024

/** The beginning of a text in several pieces, and the length of the whole. */
class Beginning {
  private readonly most: number
  private readonly pieces: Array<Uint8Array> = []
  private held = 0
  private total = 0

  constructor(most: number) {
    this.most = most + marginBytes
  }

  add(piece: string | Uint8Array): void {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece
    this.total += bytes.length
    const room = this.most - this.held
    if (room <= 0 || bytes.length === 0) return
    // A copy, so that the rest of a large buffer is not kept.
    const copy = bytes.length > room ? Uint8Array.from(bytes.subarray(0, room)) : bytes
    this.pieces.push(copy)
    this.held += copy.length
  }

  get bytes(): number {
    return this.held
  }

  text(secrets: ReadonlyArray<string>): ContentText {
    const most = this.most - marginBytes
    const isCut = this.total > most
    const shown = Buffer.from(scrub(Buffer.concat(this.pieces).toString("utf8"), secrets))
    const text = isCut
      ? shown
          .subarray(0, most)
          .toString("utf8")
          .replace(/\uFFFD+$/, "")
      : shown.toString("utf8")
    return { text, bytes: this.total, isCut }
  }
}

/** The credentials that a request presented, which its body may repeat. */
const secretsOf = (headers: HeaderRecord): ReadonlyArray<string> => {
  const authorization = headers["authorization"]
  return [
    ...presentedKeys(headers),
    authorization === undefined ? undefined : withoutBearer(authorization),
    headers["x-api-key"],
    headers["x-goog-api-key"],
    headers["api-key"],
    gatewayHeader(headers, requestHeaderNames.vertexServiceAccountJson)
  ].filter((text) => text !== undefined)
}

export class ContentCapture {
  private readonly most: number
  private readonly isOfErrors: boolean
  private request: Beginning | undefined
  private readonly calls: Array<ObservedCall> = []
  private answer: Beginning | undefined

  constructor(most: number, mode: Exclude<ContentMode, "off">) {
    this.most = most
    this.isOfErrors = mode === "errors"
  }

  /** The body of the client, as it came. */
  received(bytes: Uint8Array): void {
    this.request = new Beginning(this.most)
    this.request.add(bytes)
  }

  /** A call that is about to be sent. */
  called(call: ObservedCall): void {
    this.calls.push(call)
  }

  /** A piece of the answer, as the client gets it. */
  answered(piece: string | Uint8Array): void {
    this.answer ??= new Beginning(this.most)
    this.answer.add(piece)
  }

  /** Whether the content is kept. Routes without a body have no content. */
  isKept(isFailed: boolean): boolean {
    return this.request !== undefined && (isFailed || !this.isOfErrors)
  }

  /** Bytes that wait until the content is read; upstream bodies are about as long as the client's. */
  get bytes(): number {
    const received = this.request?.bytes ?? 0
    return received * (1 + this.calls.length) + (this.answer?.bytes ?? 0)
  }

  /** The content without the credentials of the request. */
  read(headers: HeaderRecord): RequestContent {
    const secrets = secretsOf(headers)
    const request = this.request ?? new Beginning(this.most)
    return {
      request: request.text(secrets),
      calls: this.calls.map((call) => this.callOf(call, secrets)),
      ...(this.answer === undefined ? {} : { answer: this.answer.text(secrets) })
    }
  }

  private callOf(
    { adjusted = [], body, bytes, ignored, target, url }: ObservedCall,
    secrets: ReadonlyArray<string>
  ): ContentCall {
    const sent = new Beginning(this.most)
    sent.add(bytes ?? JSON.stringify(body))
    return {
      provider: target.slug,
      model: target.modelId,
      target: target.optionIndex,
      url: withoutQueryKeys(url),
      body: sent.text(secrets),
      ignored,
      adjusted: adjusted.map(adjustmentText)
    }
  }
}

/** Makes the capture of a request once its key is known; undefined where its content is not kept. */
export const contentCapture =
  (usual: ContentMode, most: number) =>
  ({ log_content: mode = usual }: GatewayKey): ContentCapture | undefined =>
    mode === "off" ? undefined : new ContentCapture(most, mode)
