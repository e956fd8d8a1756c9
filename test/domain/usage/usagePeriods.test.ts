// Tests how periods cover spans of days: each day once, with as few parts as the complete periods allow.
// Must not depend on the store.
import { describe, expect, it } from "vitest"
import { coverDays, dayAfter } from "../../../src/domain/usage/usageSeries.ts"

const last = "2027-12-31"
const whole = { 7: last, 9: last }

/** The days of a cover, up to the last one. */
const daysOf = (first: string, to: string, { days, periods, rest }: ReturnType<typeof coverDays>): Array<string> => {
  const covered: Array<string> = []
  for (let day = first; day <= to; day = dayAfter(day)) {
    const parts = [...periods, ...days].filter((part) => day.startsWith(part)).length + (day >= rest ? 1 : 0)
    for (let part = 0; part < parts; part++) covered.push(day)
  }
  return covered
}

describe("periods of days", () => {
  it("usage periods: a span has its whole months, the parts of months at its edges, and single days", () => {
    expect(coverDays("2027-01-08", "2027-04-21", whole)).toEqual({
      periods: ["2027-01-1", "2027-01-2", "2027-01-3", "2027-02", "2027-03", "2027-04-0", "2027-04-1"],
      days: ["2027-01-08", "2027-01-09", "2027-04-20", "2027-04-21"],
      rest: "2027-04-22"
    })
  })

  it("usage periods: days after the last complete one are the rest", () => {
    expect(coverDays("2027-01-01", last, { 7: "2027-01-30", 9: "2027-02-20" })).toEqual({
      periods: ["2027-01-0", "2027-01-1", "2027-01-2", "2027-01-3", "2027-02-0", "2027-02-1"],
      days: ["2027-02-20"],
      rest: "2027-02-21"
    })
    expect(coverDays("2027-01-01", last, { 7: "", 9: "" })).toEqual({ periods: [], days: [], rest: "2027-01-01" })
  })

  it("usage periods: every span has each of its days once", () => {
    const ends = ["2027-01-01", "2027-01-09", "2027-01-31", "2027-02-01", "2027-02-28", "2027-03-30", "2027-05-15"]
    const throughs = ["", "2027-01-20", "2027-02-28", last]
    for (const from of ends)
      for (const to of ends.filter((end) => end >= from))
        for (const month of throughs)
          for (const tens of throughs) {
            const days: Array<string> = []
            for (let day = from; day <= to; day = dayAfter(day)) days.push(day)
            expect(daysOf(from, to, coverDays(from, to, { 7: month, 9: tens }))).toEqual(days)
          }
  })
})
