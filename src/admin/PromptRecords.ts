// Prompts and partials of the admin API: each change makes a new version, and every version can be read.
// Must not know how a prompt is filled or requested.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Prompt, WrittenPrompt } from "../api/AdminResources.ts"
import { mergedAccounts } from "../catalog/mergedRecords.ts"
import { type MergedPrompts, readPrompts } from "../catalog/mergedPrompts.ts"
import { mergedPromptsView } from "../catalog/Catalog.ts"
import { faultAt } from "../domain/faults.ts"
import { RecordUnknown, type RecordRefused, type StoreUnavailable } from "../domain/GatewayError.ts"
import { jsonObjectOf } from "../domain/text/json.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { type FindVersion, type Prompt as DomainPrompt, PromptEntry, promptFinder } from "../domain/Prompt.ts"
import { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { recordReader, type StoredRecord, versionsOf } from "../store/StoredRecord.ts"
import { Records } from "../store/Records.ts"
import { brokenGuard } from "./guards.ts"
import { type Judge, type Managed, managed, type RunInTurn } from "./Managed.ts"
import { isNoId, momentOf, resourceReader } from "./resourceReader.ts"

const entryReader = recordReader(PromptEntry)
const entryOf = (record: StoredRecord) =>
  entryReader({ ...record, value: { ...record.value, id: record.id, version: record.version } })

const withoutLabels = (entry: PromptEntry): PromptEntry => {
  const { labels: _, ...rest } = entry
  return rest
}

/** One version, with the numbers and labels of all versions. */
const shownVersion = (
  record: StoredRecord,
  versions: ReadonlyArray<number>,
  labels: PromptEntry["labels"]
): Result.Result<Prompt, string> =>
  Result.map(entryOf(record), (entry) => ({
    object: "prompt",
    ...withoutLabels(entry),
    ...(labels === undefined ? {} : { labels }),
    version: record.version,
    versions,
    source: "store",
    created_at: momentOf(record.createdMillis),
    updated_at: momentOf(record.updatedMillis)
  }))

/** Versions are removed with their record only, so the numbers have no gaps. */
const upTo = (version: number): ReadonlyArray<number> => Array.from({ length: version }, (_, index) => index + 1)

const shownNewest = (record: StoredRecord): Result.Result<Prompt, string> =>
  Result.flatMap(entryOf(record), ({ labels }) => shownVersion(record, upTo(record.version), labels))

/** A declared prompt in one of its versions. */
const shownDeclared = (prompt: DomainPrompt, version: number): Prompt => {
  const { id, labels, name, versions } = prompt
  return {
    object: "prompt",
    id,
    ...(name === undefined ? {} : { name }),
    ...versions.get(version),
    ...(labels.size === 0 ? {} : { labels: Object.fromEntries(labels) }),
    version,
    versions: [...versions.keys()],
    source: "file",
    managed: "file"
  }
}

const newestNumber = ({ versions }: DomainPrompt): number => Math.max(...versions.keys())

const bodyReader = resourceReader(WrittenPrompt)

/** A change without labels keeps the labels. */
const judging =
  (limits: LimitValues, prompts: () => MergedPrompts): Judge =>
  (written, before, state) =>
    Result.flatMap(bodyReader(before === undefined ? written : { id: before.id, ...written }), (body) => {
      const older =
        before === undefined
          ? []
          : versionsOf(state.records.prompt, before.id).flatMap((record) => {
              const entry = Result.getOrUndefined(entryOf(record))
              return entry === undefined ? [] : [withoutLabels(entry)]
            })
      const labelsBefore = before === undefined ? undefined : Result.getOrUndefined(entryOf(before))?.labels
      const labels = body.labels ?? labelsBefore
      const entry = { ...body, ...(labels === undefined ? {} : { labels }) }
      const others: FindVersion = (reference) =>
        reference.split("@", 1)[0] === body.id ? undefined : prompts().findPartial(reference)
      const written = [...older, { ...entry, version: (before?.version ?? 0) + 1 }]
      const faults = readPrompts(written, mergedAccounts(state).accounts, limits, others).faults.flatMap(
        ({ at = [], message }) => (at[1] === written.length - 1 || at.length < 2 ? [faultAt(at.slice(2), message)] : [])
      )
      const all = [
        ...(before === undefined || body.id === before.id
          ? []
          : [faultAt(["id"], "is another than that of the URL; an id cannot be changed")]),
        ...faults
      ]
      if (all.length > 0) return Result.fail(all)
      const { id, ...value } = entry
      return Result.succeed({ id, content: { value: jsonObjectOf(value) } })
    })

export interface PromptRecords extends Managed<Prompt> {
  /** The newest version of `id`, or the version that `id@3` or `id@label` names. */
  readonly get: (reference: string) => Effect.Effect<Prompt, RecordUnknown | RecordRefused | StoreUnavailable>
}

const unknown = (id: string) => new RecordUnknown({ kind: "prompt", id: id.slice(0, 256) })

export const promptRecords = (turn: RunInTurn): Effect.Effect<PromptRecords, never, Records | ConfigSnapshot> =>
  Effect.gen(function* () {
    const limits = yield* Limits
    const records = yield* Records
    const snapshot = yield* ConfigSnapshot
    const prompts = yield* mergedPromptsView
    const changing = yield* managed<Prompt>(
      {
        kind: "prompt",
        declared: ({ declared }) =>
          new Map((declared.prompts ?? []).map((prompt) => [prompt.id, shownDeclared(prompt, newestNumber(prompt))])),
        shown: shownNewest,
        guard: brokenGuard("prompt", limits, (_state, changed) => ({
          configs: [],
          prompts: prompts().usersOf(changed)
        }))
      },
      judging(limits, prompts),
      turn
    )

    const storedVersion = Effect.fnUntraced(function* (id: string, wanted: string) {
      const versions = isNoId(id) ? [] : yield* records.versions("prompt", [id])
      const newest = versions.at(-1)
      if (newest === undefined) return yield* unknown(id)
      const { labels } = yield* changing.read(newest)
      const numbers = new Map(versions.map(({ version }) => [version, { text: "" }]))
      const asked = promptFinder([
        { id, name: undefined, versions: numbers, labels: new Map(Object.entries(labels ?? {})) }
      ])(`${id}@${wanted}`)
      const record = versions.find(({ version }) => version === asked?.version)
      const shown =
        record === undefined ? undefined : Result.getOrUndefined(shownVersion(record, upTo(newest.version), labels))
      return shown ?? (yield* unknown(id))
    })

    return {
      ...changing,
      get: (reference) =>
        Effect.suspend(() => {
          const at = reference.indexOf("@")
          if (at < 0) return changing.get(reference)
          const id = reference.slice(0, at)
          const declared = (snapshot.current().declared.prompts ?? []).find((prompt) => prompt.id === id)
          if (declared === undefined) return storedVersion(id, reference.slice(at + 1))
          const asked = promptFinder([declared])(reference)
          return asked === undefined
            ? Effect.fail(unknown(reference))
            : Effect.succeed(shownDeclared(declared, asked.version))
        })
    }
  })
