// The picture of a config: groups and targets as boxes, and the way of a simulated request.
// Must not know configs beyond their tree. The list of reasons next to it has the same as text.
import type { ConfigCheck } from "../../../api/admin/ConfigCheck.ts"
import { percent } from "../../format.ts"
import type { TreeNode } from "./configTree.ts"

const box = { width: 160, height: 44, gapX: 32, gapY: 12 }
const longest = 22

type Step = NonNullable<ConfigCheck["plan"]>[number]

const left = ({ column }: TreeNode): number => column * (box.width + box.gapX) + 1
const upper = ({ row }: TreeNode): number => row * (box.height + box.gapY) + 1

const short = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

const Edge = ({
  node,
  parent,
  step
}: {
  readonly node: TreeNode
  readonly parent: TreeNode
  readonly step: Step | undefined
}) => {
  const [x1, y1] = [left(parent) + box.width, upper(parent) + box.height / 2]
  const [x2, y2] = [left(node), upper(node) + box.height / 2]
  const middle = (x1 + x2) / 2
  return <path class={`edge ${step?.reached ?? ""}`} d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />
}

const Box = ({ node, step }: { readonly node: TreeNode; readonly step: Step | undefined }) => {
  const [x, y] = [left(node), upper(node)]
  const share = step !== undefined && step.share > 0 ? percent(step.share) : ""
  return (
    <g class={`node ${step?.reached ?? ""}`}>
      <title>{[node.title, node.note, step?.why].filter(Boolean).join(", ")}</title>
      <rect x={x} y={y} width={box.width} height={box.height} rx="8" />
      <text x={x + 10} y={y + (node.note === "" ? 27 : 19)}>
        {short(node.title)}
      </text>
      <text x={x + box.width - 10} y={y + 19} class="share">
        {share}
      </text>
      <text x={x + 10} y={y + 35} class="small">
        {short(node.note)}
      </text>
    </g>
  )
}

interface TreeProps {
  readonly nodes: ReadonlyArray<TreeNode>
  readonly plan: ConfigCheck["plan"]
}

export const Tree = ({ nodes, plan = [] }: TreeProps) => {
  const steps = new Map(plan.map((step) => [step.path, step]))
  const width = Math.max(...nodes.map(left)) + box.width + 1
  const height = Math.max(...nodes.map(upper)) + box.height + 1
  const targets = nodes.filter((node) => !nodes.some(({ parent }) => parent === node))
  return (
    <div class="picture" tabIndex={0} role="region" aria-label="Picture of the config">
      <svg
        class="tree"
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Tree of ${targets.length} targets`}
      >
        {nodes.map((node) =>
          node.parent === undefined ? null : (
            <Edge key={node.path} node={node} parent={node.parent} step={steps.get(node.path)} />
          )
        )}
        {nodes.map((node) => (
          <Box key={node.path} node={node} step={steps.get(node.path)} />
        ))}
      </svg>
    </div>
  )
}
