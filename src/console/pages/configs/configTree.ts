// The tree of a config: its groups and targets with their places in a picture.
// It must not know how it is drawn, or where requests go.
import type { WrittenConfigBody } from "../../../api/AdminResources.ts"

type Written = WrittenConfigBody["config"]

export interface TreeNode {
  /** As the check names it: `config.targets[0]`. */
  readonly path: string
  readonly title: string
  readonly note: string
  /** The column and the row, from 0; rows of groups are between those of their targets. */
  readonly column: number
  readonly row: number
  readonly parent: TreeNode | undefined
}

const modelOf = ({ default_params: defaults, override_params: overrides }: Written): string => {
  const model = overrides?.["model"] ?? defaults?.["model"]
  return typeof model === "string" ? model : ""
}

/** How a target is chosen by its group: its weight, its name, or its turn. */
const edgeOf = (mode: string | undefined, { name, weight = 1 }: Written, index: number): string => {
  if (mode === "loadbalance") return `weight ${weight}`
  if (mode === "conditional") return name ?? ""
  return mode === "fallback" ? `${index + 1}.` : ""
}

const leavesOf = ({ targets }: Written): number =>
  Array.isArray(targets) && targets.length > 0 ? targets.reduce((sum, target) => sum + leavesOf(target), 0) : 1

const textOf = (one: Written, edge: string, isGroup: boolean): Pick<TreeNode, "title" | "note"> =>
  isGroup
    ? { title: one.strategy?.mode ?? "group", note: edge }
    : {
        title: one.provider ?? one.virtual_key ?? "as the request names",
        note: [edge, modelOf(one)].filter((text) => text !== "").join(" ")
      }

/** All nodes, each before its targets. The config may still have faults. */
export const configTree = (config: Written): ReadonlyArray<TreeNode> => {
  const nodes: Array<TreeNode> = []
  let rows = 0
  const visit = (one: Written, path: string, column: number, edge: string, parent: TreeNode | undefined): void => {
    const targets = Array.isArray(one.targets) ? one.targets : []
    const isGroup = targets.length > 0
    const node = { path, column, row: rows + (leavesOf(one) - 1) / 2, parent, ...textOf(one, edge, isGroup) }
    nodes.push(node)
    if (!isGroup) rows++
    for (const [index, target] of targets.entries())
      visit(target, `${path}.targets[${index}]`, column + 1, edgeOf(one.strategy?.mode, target, index), node)
  }
  visit(config, "config", 0, "", undefined)
  return nodes
}
