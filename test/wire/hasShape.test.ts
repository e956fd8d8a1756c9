// Tests that the quick check of shapes gives the verdict of Schema.is, for every schema of a reply and of an event.
// Must not depend on a translator.
import * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ClaudeMessageEvent, MessageReply } from "../../src/wire/anthropic.ts"
import { GenerateContentReply } from "../../src/wire/google.ts"
import { hasShape } from "../../src/wire/hasShape.ts"
import { UpstreamChat } from "../../src/wire/openai/ChatReply.ts"
import { runs } from "../support/release.ts"

const other = fc.oneof(
  fc.constantFrom(null, undefined, true, 7, -0.5, "", "text", [], {}, [null], { type: "text" }, [[]]),
  fc.jsonValue({ maxDepth: 2 })
)

/** Values of a node's kind, and now and then others. */
const valueOf = (ast: AST.AST): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: fittingOf(ast) }, { weight: 1, arbitrary: other })

const fittingOf = (ast: AST.AST): fc.Arbitrary<unknown> => {
  switch (ast._tag) {
    case "Null":
      return fc.constant(null)
    case "String":
      return fc.string({ maxLength: 3 })
    case "Number":
      return fc.integer()
    case "Boolean":
      return fc.boolean()
    case "Literal":
      return fc.constant(ast.literal)
    case "Union":
      return fc.oneof(...ast.types.map(valueOf))
    case "Arrays":
      return fc.array(fc.oneof(...[...ast.elements, ...ast.rest].map(valueOf)), { maxLength: 3 })
    case "Objects": {
      const members = Object.fromEntries(ast.propertySignatures.map(({ name, type }) => [name, valueOf(type)]))
      return fc.record({ ...members, unlisted: other }, { requiredKeys: [] })
    }
    default:
      return other
  }
}

const narrow = Schema.Struct({
  kind: Schema.Literals(["a", "b"]),
  list: Schema.NonEmptyArray(Schema.String),
  count: Schema.optionalKey(Schema.Number.check(Schema.isInt())),
  either: Schema.Union([Schema.String, Schema.Number, Schema.Struct({ inner: Schema.Boolean })]),
  rest: Schema.Record(Schema.String, Schema.Number)
})

const schemas = { GenerateContentReply, UpstreamChat, ClaudeMessageEvent, MessageReply, narrow }

describe("shapes", () => {
  it.each(Object.entries(schemas))("%s: the quick check agrees with the schema (L6)", (_, schema) => {
    const ast = Schema.toType<Schema.Top>(schema).ast
    const [quick, whole] = [hasShape<unknown>(schema), Schema.is<Schema.Top>(schema)]
    const verdicts = new Set<boolean>()
    fc.assert(
      fc.property(valueOf(ast), (value) => {
        verdicts.add(whole(value))
        expect(quick(value)).toBe(whole(value))
      }),
      { numRuns: runs(2_000) }
    )
    expect(verdicts.size).toBe(2)
  })
})
