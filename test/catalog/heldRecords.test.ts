// Tests the views of stored configs and prompts: a change of one costs the same among many, and reaches the prompts that include it.
// Must not depend on a store.
import { describe, expect, it } from "vitest"
import { brokenGuard } from "../../src/admin/guards.ts"
import { MergedConfigs } from "../../src/catalog/mergedRecords.ts"
import { MergedPrompts } from "../../src/catalog/mergedPrompts.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import type { JsonObject } from "../../src/domain/text/json.ts"
import type { ConfigState } from "../../src/store/ConfigSnapshot.ts"
import {
  newestIn,
  type RecordKind,
  recordSet,
  type StoredRecord,
  versionsOf,
  withVersions
} from "../../src/store/StoredRecord.ts"
import { googleAccount } from "../support/account.ts"
import { countSteps } from "../support/steps.ts"

const record = (kind: RecordKind, id: string, value: JsonObject, version = 1): StoredRecord => ({
  kind,
  id,
  version,
  createdMillis: 1,
  updatedMillis: 1,
  value,
  secret: undefined
})

const config = (id: string): StoredRecord => record("config", id, { config: { provider: "google" } })
const prompt = (id: string, text: string, version = 1): StoredRecord =>
  record("prompt", id, { model: "gemini-2.5-flash", messages: [{ role: "user", content: text }] }, version)

const stateOf = (records: ReadonlyArray<StoredRecord>): ConfigState => {
  const ofKind = (kind: RecordKind) => recordSet(records.filter((one) => one.kind === kind))
  return {
    declared: { accounts: [googleAccount], keys: [], configs: {} },
    records: { provider: ofKind("provider"), key: ofKind("key"), config: ofKind("config"), prompt: ofKind("prompt") },
    revision: 1
  }
}

/** The state with one more version of a record. */
const changed = (state: ConfigState, next: StoredRecord): ConfigState => {
  const set = state.records[next.kind]
  const versions = next.kind === "config" ? [next] : [...versionsOf(set, next.id), next]
  return { ...state, records: { ...state.records, [next.kind]: withVersions(set, next.id, versions) } }
}

const many = (count: number, make: (id: string) => StoredRecord): ConfigState =>
  stateOf(Array.from({ length: count }, (_, at) => make(`id-${at}`)))

const textOf = (held: MergedPrompts, reference: string) => held.find(reference)?.template.filledBy({})["messages"]

describe("stored configs and prompts", () => {
  it("held configs: a change of one takes the same steps among 10 and among 1,000 (F73)", () => {
    const steps = (count: number): number => {
      const before = many(count, config)
      const after = changed(before, config("id-3"))
      const held = new MergedConfigs(before, defaultLimits)
      const guard = brokenGuard("config", defaultLimits, (_state, id) => ({ configs: [id], prompts: [] }))
      return countSteps(() => {
        guard(before, after, "id-3", 0)
        held.put("id-3", newestIn(after.records.config, "id-3"))
      })
    }
    expect(steps(1000)).toBe(steps(10))
  })

  it("held prompts: a change of one takes the same steps among 10 and among 1,000 (F73)", () => {
    const steps = (count: number): number => {
      const before = many(count, (id) => prompt(id, id === "id-4" ? "{{>id-3}}" : "Hello"))
      const after = changed(before, prompt("id-3", "Bye", 2))
      const held = new MergedPrompts(before, defaultLimits)
      const guard = brokenGuard("prompt", defaultLimits, (_state, id) => ({ configs: [], prompts: held.usersOf(id) }))
      return countSteps(() => {
        guard(before, after, "id-3", 0)
        held.put(after.records.prompt, ["id-3"])
      })
    }
    expect(steps(1000)).toBe(steps(10))
  })

  it("held prompts: a changed partial changes the prompts that include it, also through others (F73)", () => {
    const before = stateOf([
      prompt("inner", "one"),
      prompt("middle", "<{{>inner}}>"),
      prompt("outer", "({{>middle}})"),
      prompt("waits", "{{>later}}")
    ])
    const held = new MergedPrompts(before, defaultLimits)
    expect([textOf(held, "outer"), textOf(held, "waits"), held.usersOf("inner")]).toEqual([
      [{ role: "user", content: "(<one>)" }],
      undefined,
      ["middle", "outer"]
    ])
    expect(held.faults).toEqual([{ id: "prompt waits", message: 'there is no prompt or partial "later"' }])
    const two = changed(before, prompt("inner", "two", 2))
    held.put(two.records.prompt, ["inner"])
    const three = changed(two, prompt("later", "now"))
    held.put(three.records.prompt, ["later"])
    expect([textOf(held, "outer"), textOf(held, "waits"), held.faults]).toEqual([
      [{ role: "user", content: "(<two>)" }],
      [{ role: "user", content: "now" }],
      []
    ])
    held.put(before.records.prompt, ["later", "inner"])
    expect([textOf(held, "outer"), textOf(held, "waits"), held.all.map(({ id }) => id)]).toEqual([
      [{ role: "user", content: "(<one>)" }],
      undefined,
      ["inner", "middle", "outer"]
    ])
  })
})
