// Whether this Node can run the service.
// It must not import anything: it runs where nothing else would load.

const leastMajor = 22
const leastMinor = 19

/** One line for the user of a Node that is too old; undefined when it is not. */
export const nodeVersionFault = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
    ? undefined
    : `model-gateway needs Node ${leastMajor}.${leastMinor} or newer, this is ${version}: install a newer one, from https://nodejs.org for example.`
}
