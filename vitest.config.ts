import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

const every = ["test/**/*.test.ts"]
/** What only a release can break: whole tables, all commands of the pages, all examples. `npm run test:all` has it. */
const releaseOnly = process.env["TEST_ALL"] === "1" ? [] : ["test/**/*.release.test.ts"]

export default defineConfig({
  test: {
    globalSetup: ["test/support/buildProgram.ts", "test/support/buildTables.ts"],
    setupFiles: ["test/support/seed.ts", "test/support/memoryStores.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    // Modules are read once a worker: no test changes what another imports, and it saves two minutes.
    isolate: false,
    // One more than there are cores: tests of processes, pages and stores wait for a fifth of their time.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        test: { name: "all", include: every, exclude: [...releaseOnly, "test/console/*browser.test.ts"] }
      },
      // Needs Chromium: `TEST_CHROMIUM`, or Debian's. Its tests are left out, with a line about it, where there is none.
      {
        extends: true,
        test: {
          name: "console",
          include: ["test/console/*browser.test.ts"],
          exclude: releaseOnly,
          globalSetup: "test/support/startChromium.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000
        }
      }
    ]
  }
})
