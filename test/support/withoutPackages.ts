// Preloaded into a process (`node --import`): the packages that WITHOUT_PACKAGES names are not installed there.
// It must not know which file imports them.
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
