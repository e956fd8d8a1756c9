// Builds the package where it is installed from its repository; npm runs it after every installation in a clone.
// Must not build twice, or where the compiler is not installed.
import { execSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const isBuilt = ["console", "guides"].every((name) => existsSync(`${root}dist/${name}/bundle.js`))
if (!isBuilt && existsSync(`${root}node_modules/typescript`)) execSync("npm run build", { cwd: root, stdio: "inherit" })
