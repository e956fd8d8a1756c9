// The translators for use without a gateway: pure functions from dialect to dialect, in Node and in browsers.
// Must not contain logic.
export { translators } from "./translate/translators.ts"
export {
  strictlyChunk,
  strictlyCompletion,
  strictlyEmbeddings,
  strictlyImages,
  strictlyTokenCount
} from "./translate/shared/reply/strictly.ts"
export { readAnswer, streamMachine, translateContext, type TranslateOptions } from "./translate/standalone.ts"
export {
  compose,
  type FetchedMedia,
  type Fold,
  isStreamFailed,
  type KnownSignature,
  type Machine,
  machine,
  runMachine,
  type StreamFailed,
  type TranslateContext,
  type Translated,
  type Translator,
  type Unary
} from "./translate/Translator.ts"
