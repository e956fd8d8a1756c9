// The calls of the page of configs: reading one and its versions, checking, saving and removing.
// Must not know the page.
import type { ConfigCheck } from "../../../api/admin/ConfigCheck.ts"
import { call, type ConfigRow, get } from "../../AdminClient.ts"

/** A config as it was read. A change of it fails when another change came first. */
export interface ReadConfig {
  readonly row: ConfigRow
  /** Undefined for what is declared in the configuration. */
  readonly tag: string | undefined
}

const pathOf = (id: string): string => `/configs/${encodeURIComponent(id)}`

export const readConfig = async (id: string): Promise<ReadConfig> => {
  const response = await call("GET", pathOf(id))
  return { row: await response.json(), tag: response.headers.get("etag") ?? undefined }
}

export const configVersion = (id: string, version: number): Promise<ConfigRow> => get(pathOf(`${id}@${version}`))

export const createConfig = async (body: unknown): Promise<ConfigRow> => (await call("POST", "/configs", body)).json()

export const updateConfig = async (id: string, body: unknown, tag: string | undefined): Promise<ConfigRow> =>
  (await call("PUT", pathOf(id), body, tag)).json()

export const removeConfig = async (id: string, tag: string | undefined): Promise<void> => {
  await call("DELETE", pathOf(id), undefined, tag)
}

/** A request to try the config with. */
export interface TriedRequest {
  readonly key?: string
  readonly metadata: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export const checkConfig = async (
  id: string | undefined,
  config: unknown,
  request: TriedRequest | undefined
): Promise<ConfigCheck> =>
  (
    await call("POST", "/check", {
      ...(id === undefined ? {} : { id }),
      config,
      ...(request === undefined ? {} : { request })
    })
  ).json()
