// The directory for a program's data by the convention of each operating system.
// Must not read the environment or the file system.
import type { Environment } from "./substitute.ts"

const name = "model-gateway"

/**
 * `home` is the user's directory. Variables that are empty count as unset. Undefined when nothing names a directory of
 * the user.
 */
export const platformFolder = (platform: string, env: Environment, home: string | undefined): string | undefined => {
  const below = (folder: string): string | undefined => (home === undefined ? undefined : `${home}${folder}`)
  if (platform === "darwin") return below(`/Library/Application Support/${name}`)
  const [folder, separator] =
    platform === "win32"
      ? [env["LOCALAPPDATA"] || below("\\AppData\\Local"), "\\"]
      : [env["XDG_DATA_HOME"] || below("/.local/share"), "/"]
  return folder === undefined ? undefined : `${folder}${separator}${name}`
}
