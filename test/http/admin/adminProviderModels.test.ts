// Tests the models of a provider on the admin API: its list, their locations, and those that end.
// Must not depend on which models the facts have beyond those named.
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { ProviderModel } from "../../../src/api/AdminReports.ts"
import { pageSchema } from "../../../src/api/AdminResources.ts"
import { googleAccount, vertexAccount } from "../../support/account.ts"
import { adminKey } from "../../support/accounted.ts"
import { gatewayOver, replying, type ScriptedGateway } from "../../support/scripted.ts"

let gateway: ScriptedGateway
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-23T12:00:00Z") })
  gateway = gatewayOver(() => replying({}), {
    settings: {
      keys: [{ name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }],
      accounts: [
        {
          ...vertexAccount,
          slug: "west",
          region: "us-west1",
          models: ["gemini-2.5-flash", "gemini-3.8-flash-t*", "gemini-3.8-flash", "my-own"]
        },
        { ...googleAccount, slug: "all" },
        { ...googleAccount, slug: "few", models: ["gemini-2.0-flash"] }
      ]
    }
  })
})
afterEach(async () => {
  await gateway.dispose()
  vi.useRealTimers()
})

const decode = Schema.decodeUnknownSync(pageSchema(ProviderModel, "list"), { onExcessProperty: "error" })
const read = async (slug: string): Promise<unknown> =>
  (await gateway.send(`/admin/v1/providers/${slug}/models`, { headers: { "x-gateway-api-key": adminKey } })).json()

describe("models of a provider", () => {
  it("provider models: a list of an account is matched with the facts, and names of the operator stay", async () => {
    const { data } = decode(await read("west"))
    const object = "provider_model"
    expect(data).toEqual([
      { object, id: "gemini-3.8-flash", locations: ["global", "us", "eu"], is_served_here: false },
      { object, id: "gemini-3.8-flash-tts" },
      {
        object,
        id: "gemini-2.5-flash",
        locations: ["global", "us", "eu", "regions"],
        is_served_here: true,
        notice: {
          kind: "deprecated",
          message:
            "gemini-2.5-flash is deprecated and will be shut down on 2027-03-31; its successor is gemini-3.5-flash-lite"
        }
      },
      { object, id: "my-own" }
    ])
  })

  it("provider models: without a list they are those of the kind, without places on the Gemini API", async () => {
    const { data } = decode(await read("all"))
    expect(data).toContainEqual({ object: "provider_model", id: "gemini-3.8-flash" })
    expect(data.filter(({ locations }) => locations !== undefined)).toEqual([])
  })

  it("provider models: a model that is shut down has its notice", async () => {
    expect(decode(await read("few")).data).toEqual([
      {
        object: "provider_model",
        id: "gemini-2.0-flash",
        notice: {
          kind: "shut_down",
          message: "gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash"
        }
      }
    ])
  })

  it("provider models: an unknown slug, or one that cannot be decoded, is not found", async () => {
    const missing = { status: 404, type: "urn:model-gateway:error:provider_not_found" }
    expect(await read("nobody")).toEqual(expect.objectContaining(missing))
    expect(await read("%zz")).toEqual(expect.objectContaining({ status: 404 }))
  })
})
