// Builds parameter rules (mapped, ignored, silent) and lists the ignored parameters of a request.
// Must not name a parameter.
import type { ParamRule } from "../../Translator.ts"

export const mapped = (to: string): ParamRule => ({ kind: "mapped", to })
export const ignored = (why: string): ParamRule => ({ kind: "ignored", why })
export const silent = (why: string): ParamRule => ({ kind: "silent", why })

/**
 * Lists the parameters that change nothing upstream, in the order of the request: unknown names, names ignored by
 * rule, and `unused`. `unused` is collected during translation: a name, or a path below a name such as
 * `image_config.person_generation`.
 */
export const ignoredBy = (table: Readonly<Record<string, ParamRule>>) => {
  const rules: ReadonlyMap<string, ParamRule> = new Map(Object.entries(table))
  return (request: Readonly<Record<string, unknown>>, unused: ReadonlyArray<string>): ReadonlyArray<string> => {
    const names: Array<string> = []
    // Runs for every request, and most have no path: keys alone, and no search per name.
    const paths = unused.length === 0 ? unused : unused.filter((path) => /[.[]/.test(path))
    for (const name in request) {
      if (request[name] === undefined || request[name] === null) continue
      const rule = rules.get(name)
      if (rule === undefined || rule.kind === "ignored" || unused.includes(name)) names.push(name)
      else if (paths.length > 0)
        for (const path of paths) if (path.startsWith(`${name}.`) || path.startsWith(`${name}[`)) names.push(path)
    }
    return names
  }
}
