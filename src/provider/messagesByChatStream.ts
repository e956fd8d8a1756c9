// Reads the stream of a chat as the stream of the message it becomes.
// It must not know how a call is made.
import type { Reason } from "../domain/ProviderError.ts"
import type { AnswerFacts } from "../translate/messages-to-chat/facts.ts"
import { streamFromChat } from "../translate/messages-to-chat/response.ts"
import { signaturesOf, SignedBytes, withoutSignatures } from "../translate/shared/chat-request/signatures.ts"
import type { NextHop, StreamReader } from "../translate/StreamReader.ts"
import { isStreamFailed, type Progress, type StreamFailed, streamFailed } from "../translate/Translator.ts"
import type { AnswerEvent } from "../wire/anthropic.ts"
import { frame } from "../wire/frames.ts"
import type { ChatChunk, Usage } from "../wire/openai/ChatReply.ts"

type MessageFold = ReturnType<typeof streamFromChat>
type Output = Uint8Array | StreamFailed

const encoder = new TextEncoder()

/** How a stream is written. */
interface Writing {
  readonly fold: MessageFold
  readonly isUnsigned: boolean
  readonly reason: (reason: Reason) => Reason
}

/** The message so far. */
interface Written {
  readonly state: ReturnType<MessageFold["initial"]>
  readonly hasFailed: boolean
}

/** A class: each open stream has one. */
export class MessageReader implements StreamReader<Uint8Array> {
  private readonly chat: StreamReader<ChatChunk>
  private readonly writing: Writing
  private written: Written

  private constructor(chat: StreamReader<ChatChunk>, writing: Writing, written: Written) {
    this.chat = chat
    this.writing = writing
    this.written = written
  }

  static of(
    chat: StreamReader<ChatChunk>,
    facts: AnswerFacts,
    isUnsigned: boolean,
    reason: (reason: Reason) => Reason
  ): MessageReader {
    const fold = streamFromChat(facts)
    return new MessageReader(chat, { fold, isUnsigned, reason }, { state: fold.initial(), hasFailed: false })
  }

  read(bytes: Uint8Array): ReadonlyArray<Output> {
    const [written, out] = this.write(this.chat.read(bytes))
    this.written = written
    return out
  }

  end(): ReadonlyArray<Output> {
    const [{ hasFailed, state }, out] = this.write(this.chat.end())
    return hasFailed ? out : [...out, ...framed(this.writing.fold.onHalt(state), [])]
  }

  usage(): Usage | undefined {
    return this.chat.usage()
  }

  progress(): Progress {
    return { ...this.chat.progress(), characters: this.writing.fold.progress?.(this.written.state).characters ?? 0 }
  }

  next(): NextHop<Uint8Array> | undefined {
    const hop = this.chat.next()
    return hop && { token: hop.token, reader: new MessageReader(hop.reader, this.writing, this.written) }
  }

  /** A failure of the chat is the last output. */
  private write(outputs: ReadonlyArray<ChatChunk | StreamFailed>): readonly [Written, ReadonlyArray<Output>] {
    if (this.written.hasFailed) return [this.written, []]
    const { fold, isUnsigned, reason } = this.writing
    const chunks: Array<ChatChunk> = []
    const events: Array<AnswerEvent | StreamFailed> = []
    let { state } = this.written
    let failure: StreamFailed | undefined
    for (const output of outputs) {
      if (isStreamFailed(output)) {
        failure = streamFailed(reason(output.reason))
        break
      }
      const chunk = isUnsigned ? withoutSignatures(output) : output
      const [next, some] = fold.step(state, chunk)
      state = next
      chunks.push(chunk)
      for (const event of some) events.push(event)
    }
    const out = framed(events, chunks)
    return [{ state, hasFailed: failure !== undefined }, failure === undefined ? out : [...out, failure]]
  }
}

/** All frames of a read as one piece. */
const framed = (
  events: ReadonlyArray<AnswerEvent | StreamFailed>,
  chunks: ReadonlyArray<ChatChunk>
): ReadonlyArray<Output> => {
  let text = ""
  for (const event of events) if (!isStreamFailed(event)) text += frame(JSON.stringify(event), event.type)
  const failed = events.find(isStreamFailed)
  const signed = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => signaturesOf(delta)))
  const bytes = encoder.encode(text)
  const pieces = text === "" ? [] : [signed.length === 0 ? bytes : SignedBytes.withCalls(bytes, signed)]
  return failed === undefined ? pieces : [...pieces, failed]
}
