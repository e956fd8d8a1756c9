// A strict reader of Prometheus' text format 0.0.4.
// Must not depend on the service's metrics.
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly help: string
  readonly samples: ReadonlyArray<Sample>
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter))

const labelsOf = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== "") {
    const one = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/.exec(rest)
    if (one === null) throw new Error(`no label: ${rest}`)
    if (Object.hasOwn(labels, one[1] ?? "")) throw new Error(`label twice: ${text}`)
    labels[one[1] ?? ""] = unescaped(one[2] ?? "")
    rest = rest.slice(one[0].length)
  }
  return labels
}

const numberOf = (text: string): number => {
  const value = text === "+Inf" ? Number.POSITIVE_INFINITY : Number(text)
  if (Number.isNaN(value)) throw new Error(`no number: ${text}`)
  return value
}

/** Buckets must rise and end with all; sum and count are next to them. */
const checkHistogram = ({ name, samples }: Family): void => {
  const series = Map.groupBy(samples, ({ labels: { le: _le, ...labels } }) => JSON.stringify(labels))
  for (const [labels, of] of series) {
    const buckets = of.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels: { le = "" } }) => numberOf(le))
    const count = of.find((sample) => sample.name === `${name}_count`)
    const rises = (values: ReadonlyArray<number>, strictly: boolean) =>
      values.every(
        (value, at) => at === 0 || (strictly ? value > (values[at - 1] ?? 0) : value >= (values[at - 1] ?? 0))
      )
    const sound =
      rises(bounds, true) &&
      rises(
        buckets.map(({ value }) => value),
        false
      ) &&
      bounds.at(-1) === Number.POSITIVE_INFINITY &&
      buckets.at(-1)?.value === count?.value &&
      of.length === buckets.length + 2 &&
      of.some((sample) => sample.name === `${name}_sum`)
    if (!sound) throw new Error(`no histogram: ${name} ${labels}`)
  }
}

/** Throws where the text is not what a scraper would take. */
export const parseMetrics = (text: string): ReadonlyArray<Family> => {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line does not end")
  const families: Array<{ -readonly [Key in keyof Family]: Family[Key] } & { samples: Array<Sample> }> = []
  let help = ""
  for (const line of text.split("\n").slice(0, -1)) {
    const helped = /^# HELP (\S+) (.*)$/.exec(line)
    const typed = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (helped !== null) help = helped[2] ?? ""
    else if (typed !== null) {
      const name = typed[1] ?? ""
      if (families.some((family) => family.name === name)) throw new Error(`family twice: ${name}`)
      families.push({ name, type: typed[2] as Family["type"], help, samples: [] })
    } else {
      const family = families.at(-1)
      const name = sample?.[1] ?? ""
      const belongs =
        family !== undefined &&
        (family.type === "histogram"
          ? ["_bucket", "_sum", "_count"].some((end) => name === family.name + end)
          : name === family.name)
      if (!belongs) throw new Error(`stray line: ${line}`)
      family.samples.push({ name, labels: labelsOf(sample?.[2] ?? ""), value: numberOf(sample?.[3] ?? "") })
    }
  }
  for (const family of families) {
    const names = family.samples.map(({ labels, name }) => JSON.stringify([name, labels]))
    if (new Set(names).size !== names.length) throw new Error(`series twice: ${family.name}`)
    if (family.type === "histogram") checkHistogram(family)
  }
  return families
}
