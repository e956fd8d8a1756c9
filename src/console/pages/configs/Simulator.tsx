// Tries a config with a request: which target takes it, how often and why, as a list and as a picture of the config.
// It must not know how targets are chosen; the gateway decides.
import { useSignal } from "@preact/signals"
import type { ConfigCheck } from "../../../api/AdminReports.ts"
import type { KeyRow, TriedRequest } from "../../AdminClient.ts"
import { percent } from "../../format.ts"
import { type Column, Fault, List } from "../../parts/Display.tsx"
import { Choice, Field, onSubmit } from "../../parts/Fields.tsx"
import { readJson } from "../../readJson.ts"
import type { TreeNode } from "./configTree.ts"

/** `tier=free, team=a` as an object. */
const pairsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(",")
      .filter((one) => one.trim() !== "")
      .map((one) => {
        const at = one.indexOf("=")
        return at < 0 ? [one.trim(), ""] : [one.slice(0, at).trim(), one.slice(at + 1).trim()]
      })
  )

const words = { first: "first", failure: "after a failure", never: "never" } as const

type Step = NonNullable<ConfigCheck["plan"]>[number]

const columns: ReadonlyArray<Column<Step>> = [
  { name: "Node", cell: ({ path }) => path.replace(/^config\.?/, "") || "config" },
  {
    name: "Goes to",
    class: "break",
    cell: ({ mode, model, provider }) => (provider === undefined ? mode : `${provider} / ${model}`)
  },
  {
    name: "Called",
    cell: ({ reached }) => <span class={reached === "first" ? "good" : ""}>{words[reached]}</span>
  },
  { name: "Share", isNumber: true, cell: ({ share }) => percent(share) },
  { name: "Why", class: "break", cell: ({ why }) => why }
]

const Plan = ({ plan = [], refused }: Pick<ConfigCheck, "plan" | "refused">) => {
  if (refused !== undefined)
    return (
      <p class="bad" role="status">
        The request is refused: {refused.message}
      </p>
    )
  if (plan.length === 0) return null
  return (
    <List
      label="Where the request goes"
      columns={columns}
      rows={plan}
      keyOf={({ path }) => path}
      classOf={({ reached }) => (reached === "never" ? "muted" : "")}
    />
  )
}

interface SimulatorProps {
  readonly keys: ReadonlyArray<KeyRow>
  readonly check: ConfigCheck | undefined
  readonly simulate: (request: TriedRequest) => void
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const Simulator = ({ check, keys, simulate }: SimulatorProps) => {
  const fault = useSignal("")
  const submit = onSubmit((text) => {
    const body = readJson(text("more") || "{}")
    fault.value = isObject(body) ? "" : "The fields are not a JSON object."
    if (!isObject(body)) return
    const key = text("key")
    const model = text("model")
    simulate({
      ...(key === "" ? {} : { key }),
      metadata: pairsOf(text("metadata")),
      body: { ...(model === "" ? {} : { model }), ...body }
    })
  })
  return (
    <section class="card stack">
      <form class="form plain-form" onSubmit={submit}>
        <h2>Simulate a request</h2>
        <Field label="Model" name="model" value="gemini-3.8-flash" />
        <Choice label="Key" name="key" options={[["", "any"], ...keys.map(({ id, name }) => [id, name] as const)]} />
        <Field label="Metadata" name="metadata" hint="tier=free, team=a" />
        <Field label="More fields as JSON" name="more" hint='{ "max_tokens": 2000 }' />
        <button type="submit">Simulate</button>
      </form>
      <Fault text={fault.value} />
      <Plan {...(check ?? {})} />
      <p class="note">Nothing is sent. Weights are shown as shares; open circuits are not counted.</p>
    </section>
  )
}

const box = { width: 160, height: 44, gapX: 32, gapY: 12 }
const longest = 22

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

/** The picture of a config: groups and targets as boxes, and where a simulated request goes. */
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
