// Keeps, by key, account and model, the lessons of refusals for later requests, and the models of moving names.
// Must not know requests or what a lesson changes. A lost lesson costs a call.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FairEntries } from "../domain/collections.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount, ProviderKind } from "../domain/ProviderAccount.ts"
import { normaliseModelId } from "../domain/models/modelName.ts"
import { healRows, type Lesson } from "../translate/healing/lessons.ts"
import { SharedState } from "./SharedState.ts"

/** Where lessons hold: one model at one place of one account, for the gateway key whose requests learned them. */
export interface LessonScope {
  readonly keyId: string
  readonly kind: ProviderKind
  /** The account. */
  readonly slug: string
  /** What the operator sets instead of the provider's host; `""` for the provider's own. */
  readonly host: string
  readonly project: string
  readonly region: string
  /** The config whose stored credential is used instead of the account's; `""` for the account's. */
  readonly config: string
  /** As the model table spells it. */
  readonly modelId: string
}

/** The scope of a call by its account. Undefined with a credential of the request: such a call teaches nothing, and nothing teaches it. */
export const lessonScope = (
  keyId: string,
  { base_url: baseUrl, credentials, endpoints, kind, origin, project_id: projectId, region, slug }: ProviderAccount,
  config: string | undefined,
  modelId: string
): LessonScope | undefined =>
  origin === "caller"
    ? undefined
    : {
        keyId,
        kind,
        slug,
        host: endpoints[modelId]?.host ?? baseUrl ?? "",
        project: projectId ?? (credentials?._tag === "ServiceAccount" ? credentials.key.projectId : undefined) ?? "",
        region: region ?? "",
        config: config ?? "",
        modelId: normaliseModelId(modelId)
      }

/** A lesson, or the model that answers under a moving name, with its scope. */
export type LearnedLesson = LessonScope & (Lesson | { readonly row: "move"; readonly value: string })

export class LearnedRemedies extends Context.Service<
  LearnedRemedies,
  {
    /** The lessons of a scope that still hold, oldest first. */
    readonly recall: (scope: LessonScope, nowMillis: number) => ReadonlyArray<Lesson>
    readonly learn: (scope: LessonScope, lessons: ReadonlyArray<Lesson>) => Effect.Effect<void>
    /** The model that last answered under a moving name; undefined where none is known. */
    readonly movedTo: (scope: LessonScope, nowMillis: number) => string | undefined
    readonly learnMove: (scope: LessonScope, modelId: string) => Effect.Effect<void>
    /** All that is known of a model, of every key and account, oldest first. */
    readonly lessonsOf: (modelId: string, nowMillis: number) => ReadonlyArray<LearnedLesson>
    /** Forgets all lessons of all models, and the models of all moving names. */
    readonly clear: Effect.Effect<void>
  }
>()("gateway/state/LearnedRemedies") {
  /** In this process. When there are too many, the key with most of them loses its oldest one. */
  static readonly layerMemory: Layer.Layer<LearnedRemedies> = Layer.effect(
    LearnedRemedies,
    Effect.map(Limits, (limits) => {
      const { lessons, service } = inProcess(limits)
      return {
        ...service,
        learnMove: (scope, modelId) => Effect.asVoid(service.learnMove(scope, modelId)),
        clear: Effect.sync(() => lessons.replace([]))
      }
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
      const share = (scope: LessonScope, taught: ReadonlyArray<Learned>) => {
        const add = (lesson: Learned) =>
          state.addName({
            list,
            name: nameOf(scope, lesson),
            dueMillis: lessonMillis,
            most: lessonEntries,
            idleMillis: 0
          })
        return Effect.ignore(Effect.forEach(taught, add, { discard: true }))
      }
      return {
        ...service,
        learn: (scope, taught) => Effect.andThen(service.learn(scope, taught), share(scope, taught)),
        learnMove: (scope, modelId) =>
          Effect.flatMap(service.learnMove(scope, modelId), (isLearned) =>
            isLearned ? share(scope, [moveTo(modelId)]) : Effect.void
          ),
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

/** How many models one name may have within the life of a lesson: an upstream with more of them is not followed. */
const mostMoves = 8

/** A lesson, or the model that answers under a moving name. */
type Learned = Pick<LearnedLesson, "row" | "value">

const moveTo = (modelId: string): Learned => ({ row: "move", value: modelId })

const isLesson = (learned: Learned): learned is Lesson => learned.row !== "move"

const keyOf = ({ config, host, keyId, kind, modelId, project, region, slug }: LessonScope): string =>
  [keyId, kind, slug, host, project, region, config, modelId].join(separator)

/** The name of a lesson, here and in the shared list, where the first line is the owner of the name. */
const nameOf = (scope: LessonScope, { row, value }: Learned): string => [keyOf(scope), row, value].join(separator)

const separator = "\n"

/** A lesson with its end. */
type StoredLesson = LearnedLesson & { readonly untilMillis: number }

/** Undefined for a name that this version does not know, or whose parts contain a separator. */
const parseName = (name: string, untilMillis: number): StoredLesson | undefined => {
  const parts = name.split(separator)
  const [keyId = "", kind = "", slug = "", host = "", project = "", region = "", config = "", modelId = ""] = parts
  const [word, value = ""] = parts.slice(8)
  const row = word === "move" ? word : healRows.find((known) => known === word)
  return row === undefined || parts.length !== 10
    ? undefined
    : { keyId, kind, slug, host, project, region, config, modelId, row, value, untilMillis }
}

const nothing: ReadonlyArray<StoredLesson> = []

/** Lessons by name, oldest first, and the same by scope. */
class StoredLessons {
  private byName: FairEntries<StoredLesson>
  private byScope = new Map<string, ReadonlyArray<StoredLesson>>()
  private readonly most: number

  constructor(most: number) {
    this.most = most
    this.byName = new FairEntries(most)
  }

  /** Reads no key while nothing is kept, since every request asks. */
  of(scope: LessonScope, nowMillis: number): ReadonlyArray<StoredLesson> {
    if (this.byScope.size === 0) return nothing
    return holding(this.byScope.get(keyOf(scope)) ?? nothing, nowMillis)
  }

  all(nowMillis: number): ReadonlyArray<StoredLesson> {
    return holding([...this.byName.values()], nowMillis)
  }

  replace(named: ReadonlyArray<readonly [name: string, untilMillis: number]>): void {
    this.byName = new FairEntries(this.most)
    this.add(named)
  }

  add(named: ReadonlyArray<readonly [name: string, untilMillis: number]>): void {
    for (const [name, untilMillis] of named) {
      const lesson = parseName(name, untilMillis)
      if (lesson !== undefined) this.byName.set(lesson.keyId, name, lesson)
    }
    this.byScope = Map.groupBy(this.byName.values(), keyOf)
  }
}

const holding = (lessons: ReadonlyArray<StoredLesson>, nowMillis: number): ReadonlyArray<StoredLesson> =>
  lessons.every(({ untilMillis }) => untilMillis > nowMillis)
    ? lessons
    : lessons.filter(({ untilMillis }) => untilMillis > nowMillis)

/** The lessons of this process, and all of the service but `clear`. */
const inProcess = ({ lessonEntries, lessonMillis }: LimitValues) => {
  const lessons = new StoredLessons(lessonEntries)
  const add = (scope: LessonScope, taught: ReadonlyArray<Learned>, nowMillis: number) =>
    lessons.add(taught.map((lesson) => [nameOf(scope, lesson), nowMillis + lessonMillis]))
  const service = {
    learn: (scope: LessonScope, taught: ReadonlyArray<Lesson>): Effect.Effect<void> =>
      Effect.clockWith((clock) => {
        const now = clock.currentTimeMillisUnsafe()
        // One line for all keys: it is about the facts of the model.
        const before = new Set(lessons.all(now).map((lesson) => newsOf(lesson, lesson)))
        add(scope, taught, now)
        const news = taught.map((lesson) => newsOf(scope, lesson)).filter((line) => !before.has(line))
        return Effect.forEach(news, (line) => Effect.logWarning(line), { discard: true })
      }),
    recall: (scope: LessonScope, nowMillis: number): ReadonlyArray<Lesson> => {
      const learned: ReadonlyArray<Learned> = lessons.of(scope, nowMillis)
      return learned.every(isLesson) ? learned : learned.filter(isLesson)
    },
    movedTo: (scope: LessonScope, nowMillis: number) =>
      lessons.of(scope, nowMillis).findLast(({ row }) => row === "move")?.value,
    /** False for one model more than a name has. */
    learnMove: (scope: LessonScope, modelId: string): Effect.Effect<boolean> =>
      Effect.clockWith((clock) =>
        Effect.sync(() => {
          const now = clock.currentTimeMillisUnsafe()
          const moves = lessons.of(scope, now).filter(({ row }) => row === "move")
          if (moves.length >= mostMoves && moves.every(({ value }) => value !== modelId)) return false
          add(scope, [moveTo(modelId)], now)
          return true
        })
      ),
    lessonsOf: (modelId: string, nowMillis: number): ReadonlyArray<LearnedLesson> =>
      lessons.all(nowMillis).filter((lesson) => lesson.modelId === modelId)
  }
  return { lessons, service }
}

/** The operator's cue to update the facts about the model. */
const newsOf = ({ modelId, slug }: LessonScope, { row, value }: Learned): string =>
  `Learned from a refusal of ${modelId} at ${slug}: ${row}${value === "" ? "" : ` (${value})`}. Later requests of the key are changed before they are sent; the facts about the model need an update.`
