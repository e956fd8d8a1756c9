// The result of a run as the Markdown of docs/reliability.md, and the page with it.
// Must not measure, and must not know a promise.
import type { Fault } from "./kit/faults.ts"
import type { Figure } from "./proof.ts"

export interface Proved {
  readonly id: string
  readonly sentence: string
  readonly seconds: number
  readonly figures: ReadonlyArray<Figure>
}

export interface Result {
  readonly machine: string
  readonly commit: string
  readonly date: string
  readonly seed: number
  readonly isFull: boolean
  readonly proved: ReadonlyArray<Proved>
}

const valueOf = ({ unit, value }: Figure): string =>
  `${Number.isInteger(value) ? value.toLocaleString("en") : value}${unit === "" ? "" : ` ${unit}`}`

const resultOf = ({ goal, holds }: Figure): string => (goal === "" ? "" : holds ? "kept" : "broken")

/** The table between the marks of the page. */
export const resultMarkdown = ({ commit, date, isFull, machine, proved, seed }: Result): string =>
  [
    `Measured by \`npm run reliability -- --keep${isFull ? " --full" : ""} --seed=${seed}\` at commit ${commit} on ${date}: ${machine}.`,
    "",
    "| promise | figure | goal | measured | result |",
    "| --- | --- | --- | --- | --- |",
    ...proved.flatMap(({ figures, id }) =>
      figures.map((figure) => `| ${id} | ${figure.name} | ${figure.goal} | ${valueOf(figure)} | ${resultOf(figure)} |`)
    )
  ].join("\n")

/** The corpus between its marks. */
export const corpusMarkdown = (
  faults: ReadonlyArray<Pick<Fault, "word" | "sentence" | "expected" | "only">>,
  tokenFaults: ReadonlyArray<Pick<Fault, "word" | "sentence">>
): string =>
  [
    "| fault | the provider | the client gets |",
    "| --- | --- | --- |",
    ...faults.map(
      ({ expected, only, sentence, word }) =>
        `| ${word} | ${sentence}${only === undefined ? "" : only === "stream" ? " (streams)" : " (whole answers)"} | ${{ whole: "the answer", failed: "one error", either: "the answer, or one error" }[expected]} |`
    ),
    ...tokenFaults.map(({ sentence, word }) => `| token-${word} | the token endpoint ${sentence} | one error |`)
  ].join("\n")

/** The page with a text between the marks of this name. */
export const pageWith = (page: string, mark: string, text: string): string => {
  const [opening, closing] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`]
  const [start, end] = [page.indexOf(opening), page.indexOf(closing)]
  if (start < 0 || end < start) throw new Error(`docs/reliability.md lacks the marks ${opening} and ${closing}`)
  return `${page.slice(0, start + opening.length)}\n\n${text}\n\n${page.slice(end)}`
}

/** Why a result is not kept; undefined for one that is. */
export const whyNotKept = ({ commit }: Pick<Result, "commit">, isPart: boolean): string | undefined =>
  isPart
    ? "only some of the promises were proved"
    : commit.endsWith("+")
      ? "the sources differ from the commit"
      : undefined
