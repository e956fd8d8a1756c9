// Keeps the lessons of upstream refusals, so that later requests to the same model are changed before they are sent, and
// the models that answer under moving names. Must not know requests or what a lesson changes. A lost lesson costs a call.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import { parseJsonText } from "../domain/text/json.ts"
import { healRows, type Lesson } from "../translate/healing/lessons.ts"
import { SharedState } from "./SharedState.ts"

/** A model of a provider. Neither project, region nor caller belongs to it, so that lessons contain no user data. */
export interface TaughtModel {
  readonly kind: ProviderKind
  /** As the model table spells it. */
  readonly modelId: string
}

export class LearnedRemedies extends Context.Service<
  LearnedRemedies,
  {
    /** The lessons of a model that still hold, oldest first. */
    readonly recall: (model: TaughtModel, nowMillis: number) => ReadonlyArray<Lesson>
    readonly learn: (model: TaughtModel, lessons: ReadonlyArray<Lesson>) => Effect.Effect<void>
    /** The model that last answered under a moving name; undefined where none is known. */
    readonly movedTo: (name: TaughtModel, nowMillis: number) => string | undefined
    readonly learnMove: (name: TaughtModel, modelId: string) => Effect.Effect<void>
    /** Forgets all lessons of all models, and the models of all moving names. */
    readonly clear: Effect.Effect<void>
  }
>()("gateway/state/LearnedRemedies") {
  /** In this process. The oldest lessons leave when there are too many. */
  static readonly layerMemory: Layer.Layer<LearnedRemedies> = Layer.effect(
    LearnedRemedies,
    Effect.map(Limits, (limits) => {
      const { lessons, service } = inProcess(limits)
      return { ...service, clear: Effect.sync(() => lessons.replace([])) }
    })
  )

  /**
   * In this process and in the shared state, which has the lessons of other processes. Requests never wait for it: its
   * lessons are read in the background. An outage leaves those of this process.
   */
  static readonly layerShared: Layer.Layer<LearnedRemedies, never, SharedState> = Layer.effect(
    LearnedRemedies,
    Effect.gen(function* () {
      const state = yield* SharedState
      const limits = yield* Limits
      const { lessonEntries, lessonMillis } = limits
      const { lessons, service } = inProcess(limits)
      const read = Effect.flatMap(state.names(list, lessonEntries, 0), (listed) =>
        Effect.clockWith((clock) =>
          Effect.sync(() => {
            const now = clock.currentTimeMillisUnsafe()
            lessons.replace(listed.toReversed().map(([text, left]) => [text, now + left]))
          })
        )
      )
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(read), Effect.sleep(readMillis))), {
        startImmediately: true
      })
      const share = (model: TaughtModel, taught: ReadonlyArray<Learned>) => {
        const add = (lesson: Learned) =>
          state.addName({
            list,
            name: nameOf(model, lesson),
            dueMillis: lessonMillis,
            most: lessonEntries,
            idleMillis: 0
          })
        return Effect.ignore(Effect.forEach(taught, add, { discard: true }))
      }
      return {
        ...service,
        learn: (model, taught) => Effect.andThen(service.learn(model, taught), share(model, taught)),
        learnMove: (model, modelId) =>
          Effect.andThen(service.learnMove(model, modelId), share(model, [moveTo(modelId)])),
        clear: Effect.andThen(
          Effect.sync(() => lessons.replace([])),
          Effect.ignore(state.clearNames(list))
        )
      }
    })
  )
}

/** The name of the list that processes share. */
const list = "lessons"

/** How often a process reads what other processes have learned. */
const readMillis = 1_000

/** A lesson, or the model that answers under a moving name. */
type Learned = Lesson | Move

interface Move {
  readonly row: "move"
  readonly value: string
}

const moveTo = (modelId: string): Move => ({ row: "move", value: modelId })

const isLesson = <L extends Learned>(learned: L): learned is L & Lesson => learned.row !== "move"

/** The name of a lesson, here and in the shared list. */
const nameOf = ({ kind, modelId }: TaughtModel, { row, value }: Learned): string =>
  JSON.stringify([kind, modelId, row, value])

type KeptLesson = Learned & {
  readonly model: string
  readonly untilMillis: number
}

const isText = (value: unknown): value is string => typeof value === "string"

/** Undefined for a name that this version does not know. */
const parseName = (name: string, untilMillis: number): KeptLesson | undefined => {
  const parts: unknown = Result.getOrUndefined(parseJsonText(name))
  if (!Array.isArray(parts) || parts.length !== 4 || !parts.every(isText)) return undefined
  const [kind = "", modelId = "", word, value = ""] = parts
  const kept = { model: modelKey(kind, modelId), value, untilMillis }
  if (word === "move") return { ...kept, row: word }
  const row = healRows.find((known) => known === word)
  return row === undefined ? undefined : { ...kept, row }
}

const modelKey = (kind: string, modelId: string): string => `${kind}/${modelId}`

const nothing: ReadonlyArray<KeptLesson> = []

/** Lessons by name, oldest first, and the same by model. */
class KeptLessons {
  private byName = new Map<string, KeptLesson>()
  private byModel = new Map<string, ReadonlyArray<KeptLesson>>()
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  of(kind: string, modelId: string, nowMillis: number): ReadonlyArray<KeptLesson> {
    if (this.byName.size === 0) return nothing
    const lessons = this.byModel.get(modelKey(kind, modelId)) ?? nothing
    return lessons.every(({ untilMillis }) => untilMillis > nowMillis)
      ? lessons
      : lessons.filter(({ untilMillis }) => untilMillis > nowMillis)
  }

  has(name: string, nowMillis: number): boolean {
    return (this.byName.get(name)?.untilMillis ?? 0) > nowMillis
  }

  replace(named: ReadonlyArray<readonly [name: string, untilMillis: number]>): void {
    this.byName = new Map()
    this.add(named)
  }

  add(named: ReadonlyArray<readonly [name: string, untilMillis: number]>): void {
    for (const [name, untilMillis] of named) {
      const lesson = parseName(name, untilMillis)
      if (lesson === undefined) continue
      this.byName.delete(name)
      this.byName.set(name, lesson)
    }
    for (const name of this.byName.keys()) {
      if (this.byName.size <= this.most) break
      this.byName.delete(name)
    }
    this.byModel = Map.groupBy(this.byName.values(), ({ model }) => model)
  }
}

/** The lessons of this process, and all of the service but `clear`. */
const inProcess = ({ lessonEntries, lessonMillis }: LimitValues) => {
  const lessons = new KeptLessons(lessonEntries)
  const learn = (model: TaughtModel, taught: ReadonlyArray<Lesson>): Effect.Effect<void> =>
    Effect.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      const news = taught.filter((lesson) => !lessons.has(nameOf(model, lesson), now))
      lessons.add(taught.map((lesson) => [nameOf(model, lesson), now + lessonMillis]))
      return Effect.forEach(news, (lesson) => Effect.logWarning(newsOf(model, lesson)), { discard: true })
    })
  const all = ({ kind, modelId }: TaughtModel, nowMillis: number) => lessons.of(kind, modelId, nowMillis)
  const service = {
    learn,
    recall: (model: TaughtModel, nowMillis: number): ReadonlyArray<Lesson> => {
      const learned = all(model, nowMillis)
      return learned.every(isLesson) ? learned : learned.filter(isLesson)
    },
    movedTo: (name: TaughtModel, nowMillis: number) =>
      all(name, nowMillis).findLast(({ row }) => row === "move")?.value,
    learnMove: (name: TaughtModel, modelId: string) =>
      Effect.clockWith((clock) =>
        Effect.sync(() =>
          lessons.add([[nameOf(name, moveTo(modelId)), clock.currentTimeMillisUnsafe() + lessonMillis]])
        )
      )
  }
  return { lessons, service }
}

/** The operator's cue to update the facts about the model. */
const newsOf = ({ kind, modelId }: TaughtModel, { row, value }: Lesson): string =>
  `Learned from a refusal of ${modelId} on ${kind}: ${row}${value === "" ? "" : ` (${value})`}. Later requests are changed before they are sent; the facts about the model need an update.`
