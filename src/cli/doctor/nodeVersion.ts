// Checks whether this Node version can run the service.
// Must not import anything: it has to load where other modules fail.

const leastMajor = 22
const leastMinor = 19

/** One line for users of a Node that is too old. Undefined for a supported version. */
export const nodeVersionFault = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
    ? undefined
    : `model-gateway needs Node ${leastMajor}.${leastMinor} or newer, this is ${version}: install a newer one, from https://nodejs.org for example.`
}
