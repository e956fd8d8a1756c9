// R11: each folder of tests has the path of the folder of src whose files it tests.
// Must not depend on the file system; it compares names.

/** Folders whose tests have the whole service as their subject, and folders of helpers and data. */
const wholes = [
  "agents",
  "attack",
  "bench",
  "build",
  "compat",
  "faults",
  "fixtures",
  "http/native",
  "reliability",
  "support",
  "world"
]

const isWhole = (folder: string): boolean => wholes.some((whole) => folder === whole || folder.startsWith(`${whole}/`))

/** The folders of tests without their folder in src; both lists are relative, as `router/plan`. */
export const strayFolders = (tests: ReadonlyArray<string>, sources: ReadonlyArray<string>): ReadonlyArray<string> =>
  tests
    .filter((folder) => !isWhole(folder) && !folder.endsWith("__snapshots__") && !sources.includes(folder))
    .map((folder) => `test/${folder} R11 mirror: there is no src/${folder}`)
