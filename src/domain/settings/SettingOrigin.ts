// One setting with the place that its value comes from.
// It must not know how settings are read or shown.
import type { Json } from "../text/json.ts"

export interface SettingOrigin {
  /** As `server.port`. */
  readonly name: string
  /** Without secrets; undefined for a setting that is not set and has no fixed default. */
  readonly value: Json | undefined
  readonly source: "flag" | "variable" | "file" | "default"
  /** `--port`, `GATEWAY_SERVER_PORT`, or `gateway.yaml:12`; undefined for a default. */
  readonly from: string | undefined
  readonly description: string | undefined
}
