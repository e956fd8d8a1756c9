// Renders the part of Helm's templates that the chart uses: values, conditions, `toYaml`, `nindent`.
// Must not accept anything else: an unknown action or value is an error.

type Value = string | number | boolean | null | ReadonlyArray<Value> | { readonly [name: string]: Value }

export interface HelmInput {
  readonly Values: Value
  readonly Release: { readonly Name: string }
}

const isRecord = (value: Value): value is { readonly [name: string]: Value } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const lookUp = (path: string, input: HelmInput): Value => {
  let value: Value = { Values: input.Values, Release: input.Release }
  for (const name of path.slice(1).split(".")) {
    const next: Value | undefined = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
    if (next === undefined) throw new Error(`${path} does not exist`)
    value = next
  }
  return value
}

/** False, zero, and empty texts, lists and records are false, as in Go's templates. */
const isTrue = (value: Value): boolean =>
  typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value)

const indented = (text: string, spaces: number): string =>
  `\n${text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? line : " ".repeat(spaces) + line))
    .join("\n")}`

const print = (value: Value): string => {
  if (typeof value === "object") throw new Error("a list or record is printed without toYaml")
  return String(value)
}

/** JSON on one line is YAML as well. */
const evaluate = (action: string, input: HelmInput): string => {
  const found = /^(toYaml )?(\.[\w.]+)(?: \| nindent (\d+))?$/.exec(action)
  if (found === null) throw new Error(`unknown action ${action}`)
  const [, asYaml, path = "", spaces] = found
  const value = lookUp(path, input)
  const text =
    asYaml === undefined
      ? print(value)
      : isRecord(value)
        ? Object.entries(value)
            .map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`)
            .join("\n")
        : Array.isArray(value)
          ? value.map((one) => `- ${JSON.stringify(one)}`).join("\n")
          : JSON.stringify(value)
  return spaces === undefined ? text : indented(text, Number(spaces))
}

/** The text of a template. Every action of its source is evaluated, also where its condition is false. */
export const renderHelm = (source: string, input: HelmInput): string => {
  let out = ""
  const shown: Array<boolean> = []
  let at = 0
  for (const match of source.matchAll(/(\s*)\{\{(-?) ([^}]*?) \}\}/g)) {
    const [whole, space = "", trims, action = ""] = match
    const isShown = shown.every(Boolean)
    if (isShown) out += source.slice(at, match.index) + (trims === "-" ? "" : space)
    at = match.index + whole.length
    const [, negated, path] = /^if (not )?(\.[\w.]+)$/.exec(action) ?? []
    if (path !== undefined) shown.push(isTrue(lookUp(path, input)) === (negated === undefined))
    else if (action === "else") shown.push(shown.pop() !== true)
    else if (action === "end") {
      if (shown.pop() === undefined) throw new Error("an end without its if")
    } else {
      const text = evaluate(action, input)
      if (isShown) out += text
    }
  }
  if (shown.length > 0) throw new Error("an if without its end")
  return out + source.slice(at)
}
