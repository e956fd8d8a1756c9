// Translates spoken answers of Gemini: the options of a voice, and the samples to an audio file or its chunks.
// It must not depend on the state of a stream: its chunks are the samples as they come.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Part } from "../../wire/google.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Audio } from "../../wire/openai/ChatReply.ts"
import type { ParamReader } from "../shared/chat-request/paramReader.ts"
import { toBase64 } from "../shared/media/base64.ts"
import type { TranslateContext } from "../Translator.ts"

/** Speech models answer with audio alone, so other modalities next to audio are dropped. */
export const setSpeech = (params: ParamReader, fields: Record<string, Json>, unused: Array<string>): void => {
  const { audio, stream } = params.request
  const format = audio?.["format"] ?? "wav"
  if (format !== "wav" && format !== "pcm16")
    params.invalid("audio.format", "invalid_value", "audio.format must be wav or pcm16.")
  // A stream is raw samples: the header of a file has its length.
  if (stream === true && audio?.["format"] === "wav") unused.push("audio.format")
  fields["responseModalities"] = ["AUDIO"]
  const config = speechConfigOf(params.request) ?? voices(params)
  if (config !== undefined) fields["speechConfig"] = config
}

/** Settings in Google's own form, which win over voices. */
const speechConfigOf = ({ extra_body: extra, google }: ChatRequest): JsonObject | undefined => {
  const nested = extra?.["google"]
  const config = (isJsonObject(nested) ? nested["speech_config"] : undefined) ?? google?.["speech_config"]
  return isJsonObject(config) ? config : undefined
}

const voiceConfig = (voiceName: string): JsonObject => ({ voiceConfig: { prebuiltVoiceConfig: { voiceName } } })

const voices = (params: ParamReader): JsonObject | undefined => {
  const { audio } = params.request
  const voice = audio?.["voice"] ?? undefined
  const speakers = audio?.["voices"] ?? undefined
  if (speakers !== undefined) return twoVoices(params, speakers)
  if (voice === undefined) return undefined
  return typeof voice === "string"
    ? voiceConfig(voice)
    : params.invalid("audio.voice", "invalid_type", "audio.voice must be the name of a voice.")
}

/** `[{speaker, voice}]`, or `{speaker: voice}`. */
const twoVoices = (params: ParamReader, given: unknown): JsonObject | undefined => {
  const list = isJsonObject(given)
    ? Object.entries(given).map(([speaker, voice]) => ({ speaker, voice }))
    : Array.isArray(given)
      ? given.filter(isJsonObject)
      : []
  const configs = list.flatMap(({ speaker, voice }): ReadonlyArray<JsonObject> =>
    typeof speaker === "string" && typeof voice === "string" ? [{ speaker, ...voiceConfig(voice) }] : []
  )
  return configs.length > 0 && configs.length === list.length
    ? { multiSpeakerVoiceConfig: { speakerVoiceConfigs: configs } }
    : params.invalid("audio.voices", "invalid_value", "audio.voices is a list of {speaker, voice}, two texts each.")
}

// The sound of an answer

/** True when the request asks for the audio modality, or its model has no other. */
export const wantsAudio = (request: ChatRequest, { facts }: TranslateContext["target"]): boolean =>
  facts.speaks || (Array.isArray(request.modalities) && request.modalities.includes("audio"))

/** The id of a spoken answer, and the moment until which it is kept: the gateway keeps none. */
export const audioFacts = ({ createdSeconds, id }: Pick<TranslateContext, "id" | "createdSeconds">) => ({
  id: id.replace(/^chatcmpl-/, "audio-"),
  expires_at: createdSeconds
})

/** True for a part with audio data. */
export const isAudio = (part: Part): boolean => part.inlineData?.mimeType?.startsWith("audio/") === true

/**
 * Joins all audio parts to one clip. `audio/L16;rate=24000` is raw little-endian 16-bit samples: `wav` gets a WAV
 * header, `pcm16` stays raw; any other type already is a file.
 */
export const joinAudio = (
  parts: ReadonlyArray<Part>,
  context: TranslateContext,
  request: ChatRequest
): Audio | undefined => {
  const clips = parts.filter(isAudio).map((part) => part.inlineData)
  const first = clips[0]
  if (first === undefined || first === null) return undefined
  const mimeType = first.mimeType ?? ""
  const raw = /^audio\/(l16|pcm)\b/i.test(mimeType)
  const single = clips.length === 1 ? (first.data ?? "") : undefined
  const data =
    raw && request.audio?.["format"] !== "pcm16"
      ? toBase64(withHeader(samples(clips.map((clip) => clip?.data ?? "")), mimeType))
      : (single ?? toBase64(samples(clips.map((clip) => clip?.data ?? ""))))
  return { ...audioFacts(context), data, transcript: "" }
}

const samples = (texts: ReadonlyArray<string>): Uint8Array => {
  const clips = texts.map(fromBase64)
  const all = new Uint8Array(clips.reduce((sum, clip) => sum + clip.length, 0))
  let at = 0
  for (const clip of clips) {
    all.set(clip, at)
    at += clip.length
  }
  return all
}

const parameter = (mimeType: string, name: string, otherwise: number): number =>
  Number(new RegExp(`;\\s*${name}=(\\d{1,6})`, "i").exec(mimeType)?.[1] ?? otherwise)

/** RIFF header of 44 bytes: PCM, 16 bits. */
const withHeader = (pcm: Uint8Array, mimeType: string): Uint8Array => {
  const rate = parameter(mimeType, "rate", 24_000)
  const channels = parameter(mimeType, "channels", 1)
  const file = new Uint8Array(44 + pcm.length)
  const view = new DataView(file.buffer)
  const word = (at: number, text: string) =>
    file.set(
      [...text].map((letter) => letter.charCodeAt(0)),
      at
    )
  word(0, "RIFF")
  view.setUint32(4, 36 + pcm.length, true)
  word(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, channels, true)
  view.setUint32(24, rate, true)
  view.setUint32(28, rate * channels * 2, true)
  view.setUint16(32, channels * 2, true)
  view.setUint16(34, 16, true)
  word(36, "data")
  view.setUint32(40, pcm.length, true)
  file.set(pcm, 44)
  return file
}

/** Decodes base64; invalid text gives no bytes. */
const fromBase64 = (text: string): Uint8Array => {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return new Uint8Array(0)
  }
}
