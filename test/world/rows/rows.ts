// All reports of the world.
// Must not hold a report itself.
import type { Row } from "../row.ts"
import { addresses } from "./addresses.ts"
import { answers } from "./answers.ts"
import { crossing } from "./crossing.ts"
import { embeddings } from "./embeddings.ts"
import { forms } from "./forms.ts"
import { history } from "./history.ts"
import { media } from "./media.ts"
import { messages } from "./messages.ts"
import { openAiWords } from "./openAiWords.ts"
import { parameters } from "./parameters.ts"
import { refusals } from "./refusals.ts"
import { responseWords } from "./responseWords.ts"
import { routing } from "./routing.ts"
import { shapes } from "./shapes.ts"
import { tools } from "./tools.ts"
import { words } from "./words.ts"

export const rows: ReadonlyArray<Row> = [
  ...addresses,
  ...answers,
  ...crossing,
  ...embeddings,
  ...forms,
  ...history,
  ...media,
  ...messages,
  ...openAiWords,
  ...parameters,
  ...refusals,
  ...responseWords,
  ...routing,
  ...shapes,
  ...tools,
  ...words
]
