// A text with the lines marked that it has or lacks against another text.
// Must not know what the texts are.
import { lineDiff } from "./lineDiff.ts"

export const Difference = ({ after, before }: { readonly before: string; readonly after: string }) => (
  <pre class="difference">
    {lineDiff(before, after).map(({ kind, text }, at) =>
      kind === "same" ? (
        <span key={at}>{`${text}\n`}</span>
      ) : kind === "gone" ? (
        <del key={at}>{`${text}\n`}</del>
      ) : (
        <ins key={at}>{`${text}\n`}</ins>
      )
    )}
  </pre>
)
