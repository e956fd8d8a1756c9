// A report from the world as data: what a client sent, what the provider answered, and what its user needed.
// Must not depend on the service.

/** An answer of the provider; a body alone is a 200. A list of texts is the pieces of a stream. */
export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** `@d` is an account of the Gemini API, `@p` of Vertex AI. */
export interface Row {
  /** The report, or the kind with a number of its own. */
  readonly id: string
  /** The rule of its kind, as the page of cases has it. */
  readonly kind: string
  readonly title: string
  /** `/v1/chat/completions` by default. */
  readonly path?: string
  /** POST by default. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The provider's answers in their order, the last one again and again; by default "Hi" in the words of the family. */
  readonly upstream?: ReadonlyArray<Reply>
  readonly expected: {
    /** 200 by default. */
    readonly status?: number
    /** The bodies that went to the provider. */
    readonly sent?: ReadonlyArray<unknown>
    /** The addresses that were called, from the path on. */
    readonly called?: ReadonlyArray<string>
    /** Headers of the answer; null where there is none. */
    readonly headers?: Readonly<Record<string, string | null>>
    /** The answer with its ids and times replaced; the events of a stream as a list. */
    readonly answer?: unknown
  }
}
