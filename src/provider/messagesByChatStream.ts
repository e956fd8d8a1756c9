// The machine of a chat's stream, followed by the machine of the messages it becomes.
// It must not know how a call is made.
import type { Reason } from "../domain/ProviderError.ts"
import type { AnswerFacts } from "../translate/messages-to-chat/facts.ts"
import { messagesToChat } from "../translate/messages-to-chat/MessagesToChat.ts"
import { signaturesOf, SignedBytes, withoutSignatures } from "../translate/shared/chat-request/signatures.ts"
import {
  isStreamFailed,
  type Machine,
  machine,
  type NextHop,
  type Progress,
  type StreamFailed,
  streamFailed
} from "../translate/Translator.ts"
import type { AnswerEvent } from "../wire/anthropic.ts"
import { frame } from "../wire/frames.ts"
import type { ChatChunk, Usage } from "../wire/openai/ChatReply.ts"

type Inner = Machine<Uint8Array, ChatChunk | StreamFailed>
type Outer = Machine<ChatChunk, AnswerEvent | StreamFailed>

const encoder = new TextEncoder()

/** How a stream is written. */
interface Writing {
  readonly isUnsigned: boolean
  readonly reason: (reason: Reason) => Reason
}

/** A class: each read of an open stream makes one. */
export class AnswerMachine implements Machine<Uint8Array, Uint8Array | StreamFailed> {
  private readonly inner: Inner
  private readonly outer: Outer
  private readonly writing: Writing
  private readonly hasFailed: boolean

  private constructor(inner: Inner, outer: Outer, writing: Writing, hasFailed: boolean) {
    this.inner = inner
    this.outer = outer
    this.writing = writing
    this.hasFailed = hasFailed
  }

  static of(inner: Inner, facts: AnswerFacts, isUnsigned: boolean, reason: (reason: Reason) => Reason): AnswerMachine {
    return new AnswerMachine(inner, machine(messagesToChat.stream(facts)), { isUnsigned, reason }, false)
  }

  steps(reads: ReadonlyArray<Uint8Array>): readonly [AnswerMachine, ReadonlyArray<Uint8Array | StreamFailed>] {
    const [inner, chunks] = this.inner.steps(reads)
    const { hasFailed, out, outer } = this.write(chunks)
    return [new AnswerMachine(inner, outer, this.writing, hasFailed), out]
  }

  halt(): ReadonlyArray<Uint8Array | StreamFailed> {
    const { hasFailed, out, outer } = this.write(this.inner.halt())
    if (hasFailed) return out
    return [...out, ...this.framed(outer.halt(), [])]
  }

  usage(): Usage | undefined {
    return this.inner.usage()
  }

  progress(): Progress {
    return { ...this.inner.progress(), characters: this.outer.progress().characters }
  }

  next(): NextHop<Uint8Array, Uint8Array | StreamFailed> | undefined {
    const hop = this.inner.next?.()
    return hop === undefined
      ? undefined
      : { token: hop.token, machine: new AnswerMachine(hop.machine, this.outer, this.writing, this.hasFailed) }
  }

  /** A failure of the chat is the last output. */
  private write(outputs: ReadonlyArray<ChatChunk | StreamFailed>) {
    if (this.hasFailed) return { outer: this.outer, out: [], hasFailed: true }
    const chunks: Array<ChatChunk> = []
    let failure: StreamFailed | undefined
    for (const output of outputs) {
      if (isStreamFailed(output)) failure = streamFailed(this.writing.reason(output.reason))
      else chunks.push(this.writing.isUnsigned ? withoutSignatures(output) : output)
    }
    const [outer, events] = this.outer.steps(chunks)
    const out = this.framed(events, chunks)
    return { outer, out: failure === undefined ? out : [...out, failure], hasFailed: failure !== undefined }
  }

  /** All frames of a read as one piece. */
  private framed(
    events: ReadonlyArray<AnswerEvent | StreamFailed>,
    chunks: ReadonlyArray<ChatChunk>
  ): ReadonlyArray<Uint8Array | StreamFailed> {
    let text = ""
    for (const event of events) if (!isStreamFailed(event)) text += frame(JSON.stringify(event), event.type)
    const failed = events.find(isStreamFailed)
    const signed = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => signaturesOf(delta)))
    const bytes = encoder.encode(text)
    const pieces = text === "" ? [] : [signed.length === 0 ? bytes : SignedBytes.withCalls(bytes, signed)]
    return failed === undefined ? pieces : [...pieces, failed]
  }
}
