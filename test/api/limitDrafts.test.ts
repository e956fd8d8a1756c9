// Tests the messages about exhausted limits that depend on more than the kind of the error.
// Must not depend on routes.
import { expect, it } from "vitest"
import { keyDraft } from "../../src/api/errorDrafts.ts"
import { BudgetSpent } from "../../src/domain/GatewayError.ts"

it("budget refusal: a reserved budget states when the part of a killed gateway is free again", () => {
  const facts = {
    usd: 0.5,
    per: "day",
    estimateUsd: 0.1,
    leftUsd: 0.25,
    resets: "2027-02-01T00:00:00.000Z",
    retryMillis: 7001,
    isReserved: true
  } as const
  const fact =
    "This request may cost 0.1 US dollars, and 0.25 are left of the gateway key's budget of 0.5 a day, but set aside for requests that are running. Try again shortly"
  expect([
    keyDraft(new BudgetSpent({ ...facts, reclaimMillis: 60_000 })).message,
    keyDraft(new BudgetSpent(facts)).message
  ]).toEqual([`${fact}; what a gateway held that was killed is free within 60 s.`, `${fact}.`])
})
