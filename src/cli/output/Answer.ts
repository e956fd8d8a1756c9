// Prints what a verb answers on stdout: JSON for programs, lines for people.
// Must not know which verb answers.
import * as Console from "effect/Console"
import type * as Effect from "effect/Effect"
import { visibleLines } from "../../domain/text/printable.ts"

export const renderJson = (value: object): string => visibleLines(JSON.stringify(value, null, 2))

export const printAnswer = (
  { json }: { readonly json: boolean },
  value: object,
  lines: ReadonlyArray<string>
): Effect.Effect<void> => Console.log(json ? renderJson(value) : visibleLines(lines.join("\n")))
