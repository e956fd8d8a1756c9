// The types of undici's own files, which ConnectionPool.ts imports instead of the package's index.
// Must not declare anything that undici's index does not export.
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici"
}
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici"
}
declare module "undici/lib/dispatcher/client.js" {
  export { Client as default } from "undici"
}
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici"
}
/** The method that undici's index adds to its clients; it is called with the client as `this`. */
declare module "undici/lib/api/api-connect.js" {
  import type { Client } from "undici"
  const connect: Client["connect"]
  export default connect
}
