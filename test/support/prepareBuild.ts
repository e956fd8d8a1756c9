// Builds the package where npm installs it from its repository into another project; npm then packs the clone.
// Must not build where the clone itself is worked in: tests and demo run from the sources.
import { execSync } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { join } from "node:path"

const root = realpathSync(join(import.meta.dirname, "../.."))
/** The folder in which npm was called. Before it packs, `npm pack` builds by another script. */
const caller = process.env["INIT_CWD"]
const isOwn = caller !== undefined && existsSync(caller) && realpathSync(caller) === root
if (!isOwn && existsSync(join(root, "node_modules/typescript")))
  execSync("npm run build", { cwd: root, stdio: "inherit" })
