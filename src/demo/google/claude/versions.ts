// Reads the version of Anthropic's API that a body names: Vertex AI's own, or a date from 2026-10-21 on.
// It must not depend on models.
// Source: Anthropic's guides for 2026-10-21: that version takes no sampling field from any model (M-830).

const first = "vertex-2023-10-16"
const firstDated = "2026-10-21"

const isRecord = (body: unknown): body is Record<string, unknown> =>
  typeof body === "object" && body !== null && !Array.isArray(body)

const isDated = (body: unknown): body is Record<string, unknown> => {
  const version = isRecord(body) ? body["anthropic_version"] : undefined
  return typeof version === "string" && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= firstDated
}

/** The body as the shape of the first version knows it; a version is taken from its day on. */
export const inFirstVersion = (body: unknown, day: string): unknown =>
  isDated(body) && String(body["anthropic_version"]) <= day ? { ...body, anthropic_version: first } : body

/** The refusal of a field that the named version lacks, or `undefined`. */
export const checkVersionFields = (body: unknown): string | undefined => {
  const field = isDated(body) ? ["temperature", "top_p", "top_k"].find((name) => body[name] !== undefined) : undefined
  return field === undefined ? undefined : `\`${field}\` is deprecated for this model.`
}
