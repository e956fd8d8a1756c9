// Every promise, in the order of the page.
// Must not know how a promise is proved.
import type { Promised } from "../proof.ts"
import { accounts } from "./accounts.ts"
import { administration } from "./administration.ts"
import { budgets } from "./budgets.ts"
import { changes } from "./changes.ts"
import { dependencies } from "./dependencies.ts"
import { ends } from "./ends.ts"
import { heap } from "./heap.ts"
import { memory } from "./memory.ts"
import { reports } from "./reports.ts"
import { workers } from "./workers.ts"

export const promises: ReadonlyArray<Promised> = [
  ends,
  accounts,
  changes,
  dependencies,
  budgets,
  memory,
  heap,
  administration,
  reports,
  workers
]
