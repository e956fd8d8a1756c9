// The settings the service starts with: complete, checked, defaults filled in; their origin, and the error of a missing package.
// It must not know files, environment variables or flags, nor how a credential is used.
import type * as Redacted from "effect/Redacted"
import type { GatewayConfig } from "../config/GatewayConfig.ts"
import type { ContentMode } from "../RequestRow.ts"
import type { WrittenKey } from "../GatewayKey.ts"
import type { LimitValues } from "../Limits.ts"
import type { ModelOverlays } from "../models/modelTable.ts"
import type { Prompt } from "../Prompt.ts"
import type { ProviderAccount } from "../ProviderAccount.ts"
import type { AccountTls, NetworkSetting, ServerTls } from "./network.ts"
import type { StoreLocation } from "./storeLocation.ts"
import type { ModelAliases, OtherModelsRule, ServingDefaults } from "../serving.ts"
import type { StatedPrices } from "../Usage.ts"
import type { Json } from "../text/json.ts"
import type { LabelSources } from "./attribution.ts"
import * as Schema from "effect/Schema"

/** A configured gateway key, with its text until the text is hashed. */
export interface KeySetting extends WrittenKey {
  readonly key: Redacted.Redacted<string>
}

/** The request log. Without a format nothing is logged; `serve` picks `pretty` for a terminal, else `json`. */
export interface LogSetting {
  readonly format?: "json" | "pretty" | "off"
  /** The lowest level that is logged; undefined: info. */
  readonly level?: "info" | "warn" | "error"
  /** Whose content is kept for the admin API; undefined: of no request. */
  readonly content?: ContentMode
}

/** What is exported by OpenTelemetry. The SDK reads the address of the collector from the environment. */
export interface ExportSetting {
  readonly traces: boolean
  readonly metrics: { readonly intervalMillis: number | undefined; readonly isDelta: boolean } | undefined
  /** The addresses that the SDK reads from the environment. */
  readonly endpoints?: { readonly traces?: string; readonly metrics?: string }
  /** Whether spans contain the content of messages. */
  readonly content: boolean
  /** Whether the environment sets the name of the service. */
  readonly isNamed: boolean
  /** The environment asks for protobuf; JSON is sent to the same address, where every collector takes both. */
  readonly asksProtobuf?: true
}

/** The store of records, the request log and spending. */
export interface StoreSetting {
  readonly location: StoreLocation
  /** Master keys in base64: the first one encrypts, all decrypt. Undefined: the keys of the key file. */
  readonly secretKeys: ReadonlyArray<Redacted.Redacted<string>> | undefined
  /** Path of the key file, which is created when it is needed and absent. */
  readonly keyFile: string
}

/** How the console is signed in to. */
export interface ConsoleSetting {
  /** Host names under which it is used, next to loopback names and plain addresses. */
  readonly hosts: ReadonlyArray<string>
  /** The code of the link that is printed at start; it begins one session. Undefined: there is no link. */
  readonly code?: Redacted.Redacted<string>
  /** True: a page is signed in without a credential. For the demo on loopback. */
  readonly isOpen?: boolean
}

/** All settings of the service, with every default filled in. */
export interface Settings {
  readonly server: {
    readonly host: string
    readonly port: number
    /** A separate address for the admin API and the metrics. */
    readonly admin?: { readonly host: string; readonly port: number }
    /** The path below which a reverse proxy shows the gateway, such as `/llm`. */
    readonly basePath?: string
    /** Addresses and ranges: proxies that state the address and the scheme of their clients. */
    readonly trustedProxies?: ReadonlyArray<string>
    /** Processes that serve together; undefined: one. */
    readonly workers?: number | "auto"
    /** True: other processes listen on the same addresses, and the system spreads connections over them. */
    readonly reusePort?: boolean
    readonly metricsAuth?: "none" | "admin"
    /** Origins whose web pages may call `/v1`; `anyOrigin` allows all. */
    readonly cors?: ReadonlyArray<string>
    /** Without it, or by `false`, there is no console. The command line turns it on unless it is `false`. */
    readonly console?: ConsoleSetting | false
  }
  /** The certificate of both ports; without it they speak plain HTTP. A reload replaces it. */
  readonly serverTls?: ServerTls
  /** The Redis that several gateways share. Without it each has its own limits, circuits, signatures and cache. */
  readonly redis?: Redacted.Redacted<string>
  /** Certificates of that Redis. */
  readonly redisTls?: AccountTls
  /** In the order of the file; the built-in slugs `vertex-ai` and `google` come last unless they are declared. */
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly keys: ReadonlyArray<KeySetting>
  readonly limits: LimitValues
  /** Prompts and partials with valid templates. */
  readonly prompts?: ReadonlyArray<Prompt>
  /** Gateway configs by id. */
  readonly configs?: Readonly<Record<string, GatewayConfig>>
  /** The file of application default credentials; without it the metadata server of the machine provides them. */
  readonly applicationCredentialsFile?: string
  /** Scheme and host of the metadata server, where the environment names another one. */
  readonly metadataUrl?: string
  readonly log?: LogSetting
  /** Prices by model id or `slug/id`; they take precedence over the price list. */
  readonly prices?: StatedPrices
  /** Facts about models by id or pattern, merged over the built-in ones. */
  readonly models?: ModelOverlays
  /** Slugs that serve paths of Google's own dialects where neither request nor config names one. */
  readonly native?: { readonly google?: string | undefined; readonly vertex?: string | undefined }
  /** Slugs that serve models without one, by family. */
  readonly defaults?: ServingDefaults
  /** Operator's names of models. */
  readonly aliases?: ModelAliases
  /** Labels on calls to Vertex AI, by name: `key`, `metadata.NAME` or a fixed text. */
  readonly attribution?: { readonly labels?: LabelSources | undefined }
  /** Without it nothing is exported. */
  readonly export?: ExportSetting
  /** True: upstreams receive the `traceparent` of a request. */
  readonly propagateUpstream?: boolean
  /** False: requests are not counted, logged or listed. */
  readonly accounting?: boolean
  /** Without it all records stay in the memory of the process. */
  readonly store?: StoreSetting
  /** True: metrics of requests, tokens and costs have a label for the gateway key. */
  readonly keyLabel?: boolean
  /** How rows keep the user that a client names: a digest, unless set. */
  readonly endUser?: "hashed" | "plain"
  /** Names of metadata by which usage is summed, sorted. */
  readonly usageMetadata?: ReadonlyArray<string>
  /** Whether the gateway fetches media for upstreams that accept bytes only. */
  readonly media?: { readonly fetch: boolean }
  /** Proxies and authorities; undefined: all hosts are reached directly. */
  readonly network?: NetworkSetting
  /** Whether messages serve models that are not Claude. */
  readonly messages?: { readonly otherModels: OtherModelsRule }
  /** Whether responses are kept; they are unless it is false. */
  readonly responses?: { readonly keep: boolean }
}

/** Matches every origin. */
export const anyOrigin = "*"

export const defaultServer: Settings["server"] = { host: "127.0.0.1", port: 8787 }

// One setting with the place that its value comes from.

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

// The error of a setting whose optional npm package is not installed.

/**
 * `setting` needs `packages`, which npm did not install; `also` names a package outside the gateway's own optional
 * ones. Without the setting the service starts.
 */
export class PackageMissing extends Schema.TaggedError<PackageMissing>()("PackageMissing", {
  setting: Schema.String,
  packages: Schema.String,
  also: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `${this.setting} is set, but ${this.packages} cannot be loaded: run npm install --include=optional${this.also === undefined ? "" : ` ${this.also}`}, or take the setting out`
  }
}
