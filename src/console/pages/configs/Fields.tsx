// The fields that a config may have, with their meanings, from the schema that checks it.
// Must not know any field.
import { useSignal } from "@preact/signals"
import { List } from "../../parts/List.tsx"
import { messageOf } from "../../parts/Query.ts"

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: ReadonlyArray<Schema>
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

type Row = readonly [name: string, kind: string, meaning: string]

/** A reference is to a config inside a config, whose fields are listed once. */
const rowsOf = (
  path: string,
  { anyOf = [], description = "", enum: words = anyOf[0]?.enum, items, properties, type = "" }: Schema
): ReadonlyArray<Row> => [
  ...(path === "" ? [] : [[path, words?.join(", ") ?? type, description] as const]),
  ...Object.entries(properties ?? items?.properties ?? {}).flatMap(([name, inner]) =>
    rowsOf(path === "" ? name : `${path}.${name}`, inner)
  )
]

const load = async (): Promise<ReadonlyArray<Row>> => {
  const { components }: Document = await (await fetch("/openapi.json")).json()
  const { schemas } = components
  const name = schemas["AdminConfigBody"]?.properties?.["config"]?.$ref?.split("/").at(-1) ?? ""
  return rowsOf("", schemas[name] ?? {})
}

export const Fields = () => {
  const rows = useSignal<ReadonlyArray<Row>>([])
  const fault = useSignal("")
  const open = async (): Promise<void> => {
    try {
      rows.value = rows.value.length > 0 ? rows.value : await load()
    } catch (error) {
      fault.value = `The schema is at /openapi.json of the port for clients. ${messageOf(error)}`
    }
  }
  return (
    <details class="whole" onToggle={() => void open()}>
      <summary>What a config may have</summary>
      <p class="fault">{fault.value}</p>
      <List label="Fields of a config" headings={["Field", "Value", "Meaning"]}>
        {rows.value.map(([name, kind, meaning]) => (
          <tr key={name}>
            <td>
              <code>{name}</code>
            </td>
            <td class="break">{kind}</td>
            <td class="break">{meaning}</td>
          </tr>
        ))}
      </List>
    </details>
  )
}
