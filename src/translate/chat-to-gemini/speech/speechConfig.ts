// Translates the options of a spoken answer: its modality, one voice or two, and Google's own speech settings.
// Must not depend on the audio of an answer.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import type { ParamReader } from "../../shared/chat-request/paramReader.ts"

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
export const speechConfigOf = ({ extra_body: extra, google }: ChatRequest): JsonObject | undefined => {
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
