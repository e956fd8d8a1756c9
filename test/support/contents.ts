// The laws that every list of Gemini contents obeys, for any request.
// Must not depend on a particular request.
import { expect } from "vitest"
import type { ContentOut } from "../../src/wire/google.ts"

/** Pairs (L15), no empties (L16), roles (L17). `hasIds` is true when calls and responses have ids. */
export const lawsOfContents = (contents: ReadonlyArray<ContentOut>, hasIds: boolean): void => {
  expect(contents.length).toBeGreaterThan(0)
  expect(contents[0]?.role).toBe("user")
  for (const [index, { role, parts }] of contents.entries()) {
    expect(parts.length).toBeGreaterThan(0)
    for (const part of parts)
      expect([Object.keys(part).length > 0, part.text === "" && part.thoughtSignature === undefined]).toStrictEqual([
        true,
        false
      ])
    const next = contents[index + 1]
    const responses = parts.filter((part) => part.functionResponse !== undefined)
    if (role === "user") {
      expect([0, parts.length]).toContain(responses.length)
      if (next?.role === "user") expect(responses.length).toBeGreaterThan(0)
      continue
    }
    expect(responses).toStrictEqual([])
    if (next === undefined) continue
    expect(next.role).toBe("user")
    const calls = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall]))
    const answers = next.parts.flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [functionResponse]
    )
    expect(answers.map(({ name, id }) => [name, id])).toStrictEqual(calls.map(({ name, id }) => [name, id]))
    expect(calls.every(({ id }) => (id !== undefined) === hasIds)).toBe(true)
  }
}
