// `npm run bench -- --profile`: CPU time of a request by package and function, with warm code.
// Must not know goals. Uses the profiler of the process over its inspector on loopback.
import { inspect } from "./inspector.ts"

interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}
interface Profile {
  readonly nodes: ReadonlyArray<Node>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

/** The package of a frame's code. */
const packageOf = ({ callFrame: { functionName, url } }: Node): string => {
  if (functionName === "(garbage collector)") return "garbage collection"
  if (functionName === "(program)") return "native code"
  if (functionName === "(idle)" || functionName === "(root)") return functionName
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url)
  if (found !== null) return found[1] ?? "?"
  return url === "" ? "builtins" : url.startsWith("node:") ? "node" : "its own"
}

/** Self time by name in microseconds, without idle samples. */
const selfTimes = (
  { nodes, samples, timeDeltas }: Profile,
  nameOf: (node: Node) => string
): ReadonlyMap<string, number> => {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]))
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id))
  const times = new Map<string, number>()
  samples.forEach((id, index) => {
    const name = names.get(id) ?? "?"
    if (!idle.has(id)) times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  })
  return times
}

const place = ({ callFrame: { functionName, lineNumber, url } }: Node): string =>
  `${functionName === "" ? "(anonymous)" : functionName} ${url.replace(/^.*\/(?=node_modules\/|src\/|bench\/)/, "")}:${lineNumber + 1}`

const lines = (times: ReadonlyMap<string, number>, requests: number, most: number): ReadonlyArray<string> => {
  const total = [...times.values()].reduce((sum, one) => sum + one, 0)
  return [...times]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, most)
    .map(
      ([name, time]) =>
        `${(time / requests).toFixed(2).padStart(8)} us ${((100 * time) / total).toFixed(1).padStart(5)} %  ${name}`
    )
}

/** Self time per request by package and by function while `load` runs. `load` returns the number of requests. */
export const profileRequests = async (
  title: string,
  inspector: number,
  load: () => Promise<number>
): Promise<string> => {
  const { close, send } = await inspect(inspector)
  try {
    await send("Profiler.enable")
    await send("Profiler.setSamplingInterval", { interval: 200 })
    await send("Profiler.start")
    const requests = await load()
    const { profile } = await send<{ readonly profile: Profile }>("Profiler.stop")
    return [
      `${title}: CPU time per request by package`,
      ...lines(selfTimes(profile, packageOf), requests, 12),
      `${title}: by function`,
      ...lines(selfTimes(profile, place), requests, 40)
    ].join("\n")
  } finally {
    close()
  }
}
