// Tests DELETE /admin/v1/requests: which requests leave with their content, what stays, and the entry of the audit log.
// Must not depend on how requests are stored: they go through the whole service.
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { accountedGateway, type AccountedGateway, adminKey } from "../../support/accounted.ts"
import { until } from "../../support/eventually.ts"
import { replying } from "../../support/scripted.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-01-31T12:00:00Z") })
})
afterEach(() => {
  vi.useRealTimers()
})

const gemini = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] }
const messages = [{ role: "user", content: "Hello" }]

interface Listed {
  readonly data: ReadonlyArray<{ readonly request_id: string; readonly user_id?: string }>
}

const ask = async (gateway: AccountedGateway, requestId: string, user: string | undefined) => {
  const body = { model: "@google/gemini-2.5-flash", messages, ...(user === undefined ? {} : { user }) }
  await (await gateway.post("/v1/chat/completions", body, { "x-request-id": requestId })).text()
  await until(async () => JSON.stringify(await gateway.admin("/admin/v1/requests")).includes(`"${requestId}"`))
}

const deleted = async (gateway: AccountedGateway, query: string) => {
  const answer = await gateway.send(`/admin/v1/requests${query}`, {
    method: "DELETE",
    headers: { "x-gateway-api-key": adminKey }
  })
  return [answer.status, await answer.json()]
}

it.each([
  ["hashed", "user-2bd806c97f0e00af1a1fc3328fa763a9"],
  ["plain", "alice"]
] as const)(
  "request deletion: removes the requests of a %s user with their content, and keeps the sums",
  async (endUser, stored) => {
    const gateway = accountedGateway(() => replying(gemini), {
      settings: { log: { format: "json", content: "all" }, endUser }
    })
    await ask(gateway, "first", "alice")
    await ask(gateway, "second", undefined)
    const users = async (query = "") =>
      ((await gateway.admin(`/admin/v1/requests${query}`)) as Listed).data.map((row) => [row.request_id, row.user_id])
    expect([await users(), await users("?user=alice")]).toEqual([
      [
        ["second", undefined],
        ["first", stored]
      ],
      [["first", stored]]
    ])
    expect(await users(`?user=${stored}`)).toEqual([["first", stored]])
    const [status, answer] = await deleted(gateway, "?user=alice")
    expect([status, answer]).toEqual([200, { object: "requests_deleted", requests: 1, contents: 1 }])
    expect(await users()).toEqual([["second", undefined]])
    expect(JSON.stringify(await gateway.admin("/admin/v1/usage?group_by=key"))).toContain('"requests":2')
    const { data } = (await gateway.admin("/admin/v1/audit")) as { data: ReadonlyArray<object> }
    expect(data[0]).toMatchObject({ action: "delete", kind: "request", id: "user=sha256:2bd806c97f0e00af" })
    expect(await deleted(gateway, "?key=test&before=2027-02-01T00:00:00Z")).toEqual([
      200,
      { object: "requests_deleted", requests: 1, contents: 0 }
    ])
    expect(await users()).toEqual([])
    await gateway.dispose()
  }
)

it("request deletion: finds a user by the longest name that a query takes", async () => {
  const gateway = accountedGateway(() => replying(gemini), { settings: { endUser: "plain" } })
  const user = `user_${"0".repeat(250)}a`
  await ask(gateway, "first", user)
  await ask(gateway, "second", `${user}b`)
  await ask(gateway, "third", user.slice(0, -1))
  expect(await deleted(gateway, `?user=${user}`)).toEqual([
    200,
    { object: "requests_deleted", requests: 2, contents: 0 }
  ])
  const { data } = (await gateway.admin("/admin/v1/requests")) as Listed
  expect(data.map((row) => row.request_id)).toEqual(["third"])
  await gateway.dispose()
})

it("request deletion: refuses to delete all requests together, and unknown fields", async () => {
  const gateway = accountedGateway(() => replying(gemini))
  const [status, problem] = await deleted(gateway, "")
  expect([status, problem]).toMatchObject([
    400,
    { detail: "before is required, or key or user is: requests are not deleted all together." }
  ])
  expect((await deleted(gateway, "?status=200"))[0]).toBe(400)
  await gateway.dispose()
})
