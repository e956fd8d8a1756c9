// Tests CSV: quotes, line ends, and texts that a spreadsheet would run.
// Must not depend on what a row is.
import { expect, it } from "vitest"
import { printCsv } from "../../../src/domain/text/printable.ts"

it("CSV: quotes commas, quotes and line ends, leaves unknown values empty, and disarms formulas", () => {
  expect(
    printCsv(["a", "b"], [{ a: 'x,"y"\n', b: -1.5 }, { b: "=SUM(A1)" }, { a: "@x", b: "-x,y" }, { a: "+", b: "ok" }])
  ).toBe('a,b\r\n"x,""y""\n",-1.5\r\n,\'=SUM(A1)\r\n\'@x,"\'-x,y"\r\n\'+,ok\r\n')
})
