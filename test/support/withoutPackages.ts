// Preloaded into a process (`node --import`): the packages in WITHOUT_PACKAGES count as not installed there.
// Must not depend on the files that import them.
import { registerHooks } from "node:module"

const missing = (process.env["WITHOUT_PACKAGES"] ?? "").split(",")

registerHooks({
  resolve: (specifier, context, next) => {
    if (missing.some((name) => specifier === name || specifier.startsWith(`${name}/`))) {
      throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" })
    }
    return next(specifier, context)
  }
})
