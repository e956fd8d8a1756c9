// Tests Dockerfile, compose file, manifests and flake: their variables, paths, ports, probes and times exist.
// Must not need Docker, a cluster or Nix.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { nodeVersionFault } from "../src/cli/process/platform.ts"
import { readSettings } from "../src/cli/settings/readSettings.ts"
import { parseSettingsText } from "../src/cli/settings/SettingsText.ts"
import { defaultLimits } from "../src/domain/Limits.ts"
import { defaultServer } from "../src/domain/settings/Settings.ts"
import { version } from "../src/domain/version.ts"
import { gatewayOver, replying } from "./support/scripted.ts"
import { settingsVariables } from "./support/settingsVariables.ts"

const root = fileURLToPath(new URL("../", import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** Every variable the settings ask for: those a reader looks up, and those the command line names. */
const knownVariables: ReadonlySet<string> = new Set([
  ...settingsVariables,
  ...readdirSync(join(root, "src/cli"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) =>
      [...read(`src/cli/${name}`).matchAll(/"(GATEWAY_[A-Z_]+)"/g)].map(([, variable = ""]) => variable)
    )
])
const unknown = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.filter((name) => !knownVariables.has(name))

const dockerfile = read("deploy/Dockerfile")
  .replace(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
const instructions = dockerfile
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const [, word = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    return { word, rest }
  })
const of = (word: string): ReadonlyArray<string> =>
  instructions.filter((one) => one.word === word).map(({ rest }) => rest)

/** Answers of the health routes, asked of the service itself. */
const answerOf = async (path: string): Promise<number> => {
  const { dispose, send } = gatewayOver(() => replying({}))
  const { status } = await send(path)
  await dispose()
  return status
}

const leavingMillis = defaultLimits.readyDelayMillis + defaultLimits.drainMillis

it("deployment page: names files that exist", () => {
  const page = read("docs/deployment.md")
  const named = [
    ...page.slice(page.indexOf("## Files"), page.indexOf("## Containers")).matchAll(/(?:-f )(\S+?\w)[` ]/g)
  ].map(([, path = ""]) => path)
  expect(named).toEqual(["deploy/Dockerfile", "deploy/docker-compose.yaml", "deploy/kubernetes.yaml"])
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

it("deployment test: the settings list the known variables", () => {
  expect(
    unknown([
      "GATEWAY_SERVER_PORT",
      "GEMINI_API_KEY",
      "GATEWAY_LIMITS_BODY_BYTES",
      "GATEWAY_CONFIG",
      "GATEWAY_NO_SUCH_THING"
    ])
  ).toEqual(["GATEWAY_NO_SUCH_THING"])
})

describe("versions of Node", () => {
  const { devDependencies, engines } = Schema.decodeUnknownSync(
    Schema.fromJsonString(
      Schema.Struct({
        devDependencies: Schema.Struct({ node: Schema.String }),
        engines: Schema.Struct({ node: Schema.String })
      })
    )
  )(read("package.json"))

  it("Node: Dockerfile and pages name the tag of the version that the scripts run on", () => {
    const tags = ["deploy/Dockerfile", "docs/deployment.md"].map((path) => [
      path,
      [...read(path).matchAll(/node:([\d.]+)-slim/g)].map(([, version]) => version)
    ])
    expect(tags).toEqual([
      ["deploy/Dockerfile", [devDependencies.node]],
      ["docs/deployment.md", [devDependencies.node]]
    ])
  })

  it("Node: the package, the check at the start and the pages name the same oldest version", () => {
    const [, least = ""] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? []
    const [major = 0, minor = 0] = least.split(".").map(Number)
    expect([nodeVersionFault(`${major}.${minor}.0`), nodeVersionFault(`${major}.${minor - 1}.9`)]).toEqual([
      undefined,
      `model-gateway needs Node ${least} or newer, this is ${major}.${minor - 1}.9: install a newer one, from https://nodejs.org for example.`
    ])
    const pages = ["docs/quickstart.md", "CONTRIBUTING.md"]
    expect(pages.map((path) => [path, /Node (\d[\d.]*) or (?:later|newer)/.exec(read(path))?.[1]])).toEqual(
      pages.map((path) => [path, least])
    )
  })
})

describe("Dockerfile", () => {
  const copied = of("COPY")
    .filter((rest) => !rest.startsWith("--from="))
    .flatMap((rest) => rest.split(/\s+/).slice(0, -1))

  it("Dockerfile: copies files that exist, and the builder gets nothing else", () => {
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const [all, ...kept] = read("deploy/Dockerfile.dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
    expect([all, kept.map((line) => line.slice(1))]).toEqual(["*", copied])
  })

  it("Dockerfile: copies from the first stage only what that stage makes", () => {
    const { compilerOptions }: { readonly compilerOptions: { readonly outDir: string } } = JSON.parse(
      read("tsconfig.build.json")
    )
    expect(
      of("COPY")
        .filter((rest) => rest.startsWith("--from=build"))
        .map((rest) => rest.split(" ")[1]?.replace("/build/", ""))
    ).toEqual(["package.json", "node_modules", compilerOptions.outDir])
  })

  it("Dockerfile: runs scripts that exist", () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(read("package.json"))
    expect(
      [...dockerfile.matchAll(/npm run (\w+)/g)]
        .map(([, name = ""]) => name)
        .filter((name) => scripts[name] === undefined)
    ).toEqual([])
  })

  it("Dockerfile: sets known variables", () => {
    const names = of("ENV").flatMap((rest) => [...rest.matchAll(/(\w+)=/g)].map(([, name = ""]) => name))
    expect(names).toContain("GATEWAY_SERVER_HOST")
    const ofRuntime = new Set(["NODE_ENV", "MALLOC_ARENA_MAX"])
    expect(unknown(names.filter((name) => !ofRuntime.has(name)))).toEqual([])
  })

  it("Dockerfile: serves on the port of the service as an unprivileged user, and checks its readiness", () => {
    expect(of("EXPOSE")).toEqual([String(defaultServer.port)])
    expect(of("USER")).toEqual(["1000:1000"])
    expect(of("STOPSIGNAL")).toEqual(["SIGTERM"])
    expect([of("ENTRYPOINT"), of("CMD")]).toEqual([['["node", "dist/main.js"]'], ['["serve"]']])
    expect(of("HEALTHCHECK")[0]).toMatch(/CMD \["node", "dist\/main\.js", "health"\]$/)
  })

  it("Dockerfile: builds and runs on one image, named by its digest (TH29)", () => {
    expect(of("ARG")).toEqual([expect.stringMatching(/^NODE_IMAGE=node:\d+\.\d+\.\d+-slim@sha256:[0-9a-f]{64}$/)])
    expect(of("FROM")).toEqual(["${NODE_IMAGE} AS build", "${NODE_IMAGE}"])
  })

  it("Dockerfile: names its version", () => {
    expect(of("LABEL")[0]).toContain(`image.version="${version}"`)
  })
})

describe("docker-compose.yaml", () => {
  const Service = Schema.Struct({
    image: Schema.String,
    profiles: Schema.optionalKey(Schema.Array(Schema.String)),
    environment: Schema.optionalKey(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
    volumes: Schema.optionalKey(Schema.Array(Schema.String)),
    ports: Schema.optionalKey(Schema.Array(Schema.String)),
    configs: Schema.optionalKey(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String }))),
    build: Schema.optionalKey(Schema.Struct({ context: Schema.String, dockerfile: Schema.String })),
    stop_grace_period: Schema.optionalKey(Schema.String),
    read_only: Schema.optionalKey(Schema.Boolean)
  })
  const Compose = Schema.Struct({
    services: Schema.Record(Schema.String, Service),
    configs: Schema.Record(Schema.String, Schema.Struct({ content: Schema.String })),
    volumes: Schema.Record(Schema.String, Schema.Null)
  })
  const compose = Schema.decodeUnknownSync(Compose)(Yaml.parse(read("deploy/docker-compose.yaml")))
  const services = Object.entries(compose.services)
  const gateway = compose.services["gateway"]

  it("docker-compose.yaml: starts the gateway alone without a profile", () => {
    expect(services.map(([name, { profiles = [] }]) => [name, ...profiles])).toEqual([
      ["gateway"],
      ["postgres", "postgres"],
      ["redis", "redis"],
      ["prometheus", "monitoring"],
      ["grafana", "monitoring"]
    ])
  })

  it("docker-compose.yaml: builds the Dockerfile, and names this version", () => {
    expect(existsSync(join(root, "deploy", gateway?.build?.context ?? "", gateway?.build?.dockerfile ?? "none"))).toBe(
      true
    )
    expect(gateway?.image).toBe(`model-gateway:${version}`)
  })

  it("docker-compose.yaml: names every other image by its digest (TH29)", () => {
    const others = services
      .filter(([name]) => name !== "gateway")
      .map(([name, { image }]) => [name, /^[\w/]+:v?\d+\.\d+(?:\.\d+)?@sha256:[0-9a-f]{64}$/.test(image)])
    expect(others).toEqual([
      ["postgres", true],
      ["redis", true],
      ["prometheus", true],
      ["grafana", true]
    ])
  })

  it("docker-compose.yaml: gives the gateway known variables, and so does its comment", () => {
    const ours = Object.keys(gateway?.environment ?? {})
    expect(ours.length).toBeGreaterThan(5)
    expect(unknown(ours)).toEqual([])
    const asked = [...read("deploy/docker-compose.yaml").matchAll(/^#.*?([A-Z_]+)=\S/gm)].map(([, name = ""]) => name)
    const taken = new Set(services.flatMap(([, { environment = {} }]) => Object.keys(environment)))
    expect(asked.filter((name) => !taken.has(name))).toEqual([])
  })

  it("docker-compose.yaml: mounts volumes and files that exist", () => {
    const sources = services.flatMap(([, { volumes = [] }]) => volumes.map((one) => one.split(":")[0] ?? ""))
    expect(sources.filter((one) => one.startsWith("./") && !existsSync(join(root, "deploy", one)))).toEqual([])
    expect(sources.filter((one) => !one.startsWith(".")).toSorted()).toEqual(Object.keys(compose.volumes).toSorted())
    expect(gateway?.volumes).toEqual([`data:${/GATEWAY_DATA_DIR=(\S+)/.exec(dockerfile)?.[1]}`, "./config:/config:ro"])
    expect(gateway?.read_only).toBe(true)
  })

  it("docker-compose.yaml: mounts configs that are YAML, with the right port", () => {
    expect(services.flatMap(([, { configs = [] }]) => configs.map(({ source }) => source)).toSorted()).toEqual(
      Object.keys(compose.configs).toSorted()
    )
    const parsed = Object.fromEntries(
      Object.entries(compose.configs).map(([name, { content }]) => [name, Yaml.parse(content)])
    )
    expect(parsed["prometheus"]).toMatchObject({
      scrape_configs: [{ static_configs: [{ targets: [`gateway:${defaultServer.port}`] }] }]
    })
    expect(gateway?.ports).toEqual([`127.0.0.1:${defaultServer.port}:${defaultServer.port}`])
    const path = "/var/lib/grafana/dashboards"
    expect(parsed["grafana-dashboards"]).toMatchObject({ providers: [{ options: { path } }] })
    expect(compose.services["grafana"]?.volumes?.[0]).toBe(`./grafana-dashboard.json:${path}/model-gateway.json:ro`)
  })

  it("docker-compose.yaml: waits for the longest stream", () => {
    expect(Number.parseInt(gateway?.stop_grace_period ?? "", 10) * 1000).toBeGreaterThan(leavingMillis)
  })
})

describe("kubernetes.yaml", () => {
  const text = read("deploy/kubernetes.yaml")
  const labels = { "app.kubernetes.io/name": "model-gateway" }
  const Kind = Schema.Struct({
    kind: Schema.String,
    metadata: Schema.Struct({
      name: Schema.Literal("model-gateway"),
      labels: Schema.Record(Schema.String, Schema.String)
    })
  })
  const documents = text.split(/^---$/m).map((one) => Yaml.parse(one))
  const Probe = Schema.Struct({ httpGet: Schema.Struct({ path: Schema.String, port: Schema.String }) })
  const Container = Schema.Struct({
    image: Schema.String,
    args: Schema.Array(Schema.String),
    ports: Schema.Array(Schema.Struct({ name: Schema.String, containerPort: Schema.Number })),
    startupProbe: Probe,
    livenessProbe: Probe,
    readinessProbe: Probe,
    securityContext: Schema.Json,
    volumeMounts: Schema.Array(Schema.Struct({ name: Schema.String, mountPath: Schema.String }))
  })
  const Deployment = Schema.Struct({
    kind: Schema.Literal("Deployment"),
    spec: Schema.Struct({
      replicas: Schema.Number,
      selector: Schema.Json,
      template: Schema.Struct({
        metadata: Schema.Json,
        spec: Schema.Struct({
          terminationGracePeriodSeconds: Schema.Number,
          securityContext: Schema.Json,
          containers: Schema.Tuple([Container]),
          volumes: Schema.Array(Schema.Struct({ name: Schema.String }))
        })
      })
    })
  })
  const kinds = documents.map((one) => Schema.decodeUnknownSync(Kind)(one))
  const byKind = (kind: string): unknown => documents[kinds.findIndex((one) => one.kind === kind)]
  const { spec } = Schema.decodeUnknownSync(Deployment)(byKind("Deployment"))
  const [container] = spec.template.spec.containers

  it("kubernetes.yaml: is one deployment and its parts, with one label", () => {
    expect(kinds.map(({ kind }) => kind)).toEqual([
      "ServiceAccount",
      "ConfigMap",
      "Deployment",
      "Service",
      "PodDisruptionBudget"
    ])
    expect(kinds.map(({ metadata }) => metadata.labels)).toEqual(kinds.map(() => labels))
    expect(spec.selector).toEqual({ matchLabels: labels })
    expect(spec.template.metadata).toEqual({ labels })
    expect(byKind("Service")).toMatchObject({
      spec: { selector: labels, ports: [{ port: defaultServer.port, targetPort: "http" }] }
    })
    expect(byKind("PodDisruptionBudget")).toMatchObject({
      spec: { minAvailable: 1, selector: { matchLabels: labels } }
    })
  })

  it("kubernetes.yaml: runs two pods of this version unprivileged, on a read-only file system", () => {
    expect([spec.replicas, container.image]).toEqual([2, `model-gateway:${version}`])
    expect(spec.template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: Number(of("USER")[0]?.split(":")[0])
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] }
    })
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(spec.template.spec.volumes.map(({ name }) => name))
  })

  it("kubernetes.yaml: probes existing routes, on the port of the service", async () => {
    const { livenessProbe, readinessProbe, startupProbe } = container
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)
    expect(paths).toEqual(["/health/live", "/health/live", "/health/ready"])
    expect(await Promise.all(paths.map(answerOf))).toEqual([200, 200, 200])
    expect(container.ports).toEqual([{ name: "http", containerPort: defaultServer.port }])
  })

  it("kubernetes.yaml: waits for the longest stream", () => {
    expect(spec.template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(leavingMillis)
  })

  it("kubernetes.yaml: requires a secret of known variables, and its file is accepted with them", () => {
    const names = [...text.matchAll(/--from-literal=([A-Z_]+)=/g)].map(([, name = ""]) => name)
    expect(names.length).toBeGreaterThan(3)
    expect(unknown(names)).toEqual([])
    const { data } = Schema.decodeUnknownSync(
      Schema.Struct({ data: Schema.Struct({ "gateway.yaml": Schema.String }) })
    )(byKind("ConfigMap"))
    const file = Result.getOrThrow(parseSettingsText("gateway.yaml", data["gateway.yaml"])).value
    const settings = Result.getOrThrow(
      readSettings({ file, env: { GEMINI_API_KEY: "test-key-of-gemini" }, flags: {}, fileText: () => Result.fail("") })
    )
    expect(settings.server).toEqual({ host: "0.0.0.0", port: defaultServer.port })
    expect(container.args).toEqual(["serve", "--config", `${container.volumeMounts[0]?.mountPath}/gateway.yaml`])
  })
})

describe("Cloud Run", () => {
  const Probe = Schema.Struct({ httpGet: Schema.Struct({ path: Schema.String }) })
  const Variable = Schema.Struct({ name: Schema.String, value: Schema.optionalKey(Schema.String) })
  const { spec } = Schema.decodeUnknownSync(
    Schema.Struct({
      spec: Schema.Struct({
        template: Schema.Struct({
          spec: Schema.Struct({
            containers: Schema.Tuple([
              Schema.Struct({
                image: Schema.String,
                args: Schema.Array(Schema.String),
                ports: Schema.Array(Schema.Struct({ containerPort: Schema.Number })),
                env: Schema.Array(Variable),
                startupProbe: Probe,
                livenessProbe: Probe
              })
            ])
          })
        })
      })
    })
  )(Yaml.parse(read("deploy/cloud-run/service.yaml")))
  const [container] = spec.template.spec.containers

  it("Cloud Run: the service sets known variables, ends within ten seconds, and probes existing routes", async () => {
    expect(container.image).toMatch(new RegExp(`:${version}$`))
    expect(unknown(container.env.map(({ name }) => name))).toEqual([])
    const value = (of: string) => Number(container.env.find(({ name }) => name === of)?.value)
    const leaving = value("GATEWAY_LIMITS_READY_DELAY_MILLIS") + value("GATEWAY_LIMITS_DRAIN_MILLIS")
    expect(leaving).toBeLessThan(10_000)
    expect(container.ports).toEqual([{ containerPort: defaultServer.port }])
    const paths = [container.startupProbe, container.livenessProbe].map(({ httpGet }) => httpGet.path)
    expect(await Promise.all(paths.map(answerOf))).toEqual([200, 200])
  })

  it("Cloud Run: the configuration is accepted, and the platform names the port", () => {
    const file = Result.getOrThrow(parseSettingsText("gateway.yaml", read("deploy/cloud-run/gateway.yaml"))).value
    const settings = Result.getOrThrow(
      readSettings({ file, env: { PORT: "8080" }, flags: {}, fileText: () => Result.fail("") })
    )
    expect(settings.server).toEqual({ host: "0.0.0.0", port: 8080 })
    expect(settings.accounts.map(({ credentials, slug }) => [slug, credentials?._tag])).toEqual([
      ["vertex-ai", "ApplicationDefault"],
      ["google", undefined]
    ])
  })
})

describe("flake.nix", () => {
  const flake = read("flake.nix")

  it("flake.nix: sets known variables", () => {
    expect(unknown([...flake.matchAll(/\b(GATEWAY_[A-Z_]+) =/g)].map(([, name = ""]) => name))).toEqual([])
    expect(flake).toContain("GATEWAY_CONFIG = ")
  })

  it("flake.nix: serves by default on the service's address, and waits for the longest stream", () => {
    expect(flake).toContain(`default = ${defaultServer.port};`)
    expect(flake).toContain(`default = "${defaultServer.host}";`)
    expect(Number(/TimeoutStopSec = (\d+);/.exec(flake)?.[1]) * 1000).toBeGreaterThan(leavingMillis)
  })

  it("flake.lock: holds the input that flake.nix names, at one commit", () => {
    const [, owner, repo, ref] = /nixpkgs\.url = "github:(\w+)\/(\w+)\/([\w.-]+)"/.exec(flake) ?? []
    const { nodes, root } = JSON.parse(read("flake.lock"))
    expect(nodes[root].inputs).toEqual({ nixpkgs: "nixpkgs" })
    expect(nodes.nixpkgs.original).toEqual({ type: "github", owner, repo, ref })
    expect(nodes.nixpkgs.locked).toMatchObject({
      type: "github",
      owner,
      repo,
      rev: expect.stringMatching(/^[0-9a-f]{40}$/)
    })
    expect(Buffer.from(nodes.nixpkgs.locked.narHash.replace("sha256-", ""), "base64")).toHaveLength(32)
  })

  it("flake.nix: closes every brace it opens", () => {
    const code = flake
      .replace(/#.*$/gm, "")
      .replace(/''[\s\S]*?''(?!\$)/g, "")
      .replace(/"(?:\\.|[^"\\])*"/g, "")
    const count = (mark: string): number => code.split(mark).length - 1
    expect([count("{"), count("["), count("(")]).toEqual([count("}"), count("]"), count(")")])
  })
})

describe("files of a machine", () => {
  const unit = read("deploy/model-gateway.service")
  const nginx = read("deploy/nginx.conf")
  const caddy = read("deploy/Caddyfile")
  const seconds = (text: string, name: string): number =>
    Number(new RegExp(`${name}[ =](\\d+)s?;?$`, "m").exec(text)?.[1])

  it("systemd unit: waits for the drain, reloads by SIGHUP, and keeps a wrong configuration down", () => {
    expect(seconds(unit, "TimeoutStopSec") * 1_000).toBeGreaterThan(leavingMillis)
    expect([...unit.matchAll(/^(?:ExecReload|RestartPreventExitStatus)=(.*)$/gm)].map(([, value]) => value)).toEqual([
      "/bin/kill -HUP $MAINPID",
      "2"
    ])
    expect(unknown([...unit.matchAll(/\b(GATEWAY_\w+)=/g)].map(([, name = ""]) => name))).toEqual([])
  })

  it("proxies: pass streams on unbuffered, take whole bodies, and outlast the longest stream", () => {
    const readTimeouts = [seconds(nginx, "proxy_read_timeout"), seconds(caddy, "read_timeout")]
    expect(readTimeouts.every((value) => value * 1_000 > defaultLimits.drainMillis)).toBe(true)
    const sizes = [/client_max_body_size (\d+)m;/.exec(nginx), /max_size (\d+)MB/.exec(caddy)]
    expect(sizes.every((size) => Number(size?.[1]) * 1_000_000 >= defaultLimits.bodyBytes)).toBe(true)
    const idle = [seconds(nginx, "keepalive_timeout"), seconds(caddy, "keepalive")]
    expect(idle.every((value) => value * 1_000 < defaultLimits.keepAliveMillis)).toBe(true)
    expect([nginx.includes("proxy_buffering off;"), caddy.includes("flush_interval -1")]).toEqual([true, true])
  })

  it("proxies: pass on Host with its port, which the console compares with the origin of its page (TH30)", () => {
    expect([...nginx.matchAll(/^\s*proxy_set_header Host (.*);$/gm)].map(([, value]) => value)).toEqual(["$http_host"])
    // Caddy passes it on as it came.
    expect(caddy).not.toContain("header_up Host")
  })
})
