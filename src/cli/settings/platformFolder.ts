// The directory for a program's data by the convention of each operating system.
// Must not read the environment or the file system.
import type { Environment } from "./substitute.ts"

const name = "model-gateway"

/** `home` is the user's directory. Variables that are empty count as unset. */
export const platformFolder = (platform: string, env: Environment, home: string): string => {
  if (platform === "win32") return `${env["LOCALAPPDATA"] || `${home}\\AppData\\Local`}\\${name}`
  if (platform === "darwin") return `${home}/Library/Application Support/${name}`
  return `${env["XDG_DATA_HOME"] || `${home}/.local/share`}/${name}`
}
