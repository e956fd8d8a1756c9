// Numbers, money and times as texts with their units, and addresses with the fields of a query.
// It must not know what they mean.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })

export const count = (value: number): string => (Math.abs(value) < 10_000 ? grouped : compact).format(value)

export const percent = (share: number): string => `${grouped.format(share * 100)} %`

export const duration = (millis: number | undefined): string => {
  if (millis === undefined) return "–"
  if (millis < 10) return `${millis.toFixed(1)} ms`
  if (millis < 1000) return `${millis.toFixed(0)} ms`
  return millis < 60_000 ? `${(millis / 1000).toFixed(2)} s` : `${(millis / 60_000).toFixed(1)} min`
}

export const dollars = (value: number | undefined): string => {
  if (value === undefined) return "–"
  if (value === 0) return "$0"
  return value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(value < 1 ? 3 : 2)}`
}

// A formatter takes long to make, and lists print many moments.
const clocks = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const days = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium" })

/** The time of day in the zone of the reader. */
export const clock = (moment: string): string => clocks.format(new Date(moment))

/** Day and time in the zone of the reader. */
export const dayAndClock = (moment: string): string => days.format(new Date(moment))

/** The change from a value to another one; undefined where there is nothing to compare with. */
export const change = (before: number, now: number): string | undefined => {
  if (before === 0) return undefined
  const share = now / before - 1
  return `${share >= 0 ? "+" : "−"}${percent(Math.abs(share))}`
}

/** A path with the fields of its query; empty ones are left out. */
export const withQuery = (path: string, fields: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value = ""] of Object.entries(fields)) if (value !== "") query.set(name, value)
  return query.size === 0 ? path : `${path}?${query}`
}
