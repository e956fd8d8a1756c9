// Tests the Helm chart: its values fit their schema, and its templates become the manifests that they stand for.
// Must not need Helm or a cluster.
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Ajv } from "ajv"
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { readSettings } from "../src/cli/settings/readSettings.ts"
import { parseSettingsText } from "../src/cli/settings/SettingsText.ts"
import { version } from "../src/domain/version.ts"
import { makeCertificates } from "./support/certificates.ts"
import { type HelmInput, renderHelm } from "./support/helmTemplate.ts"

const deploy = fileURLToPath(new URL("../deploy/", import.meta.url))
const read = (path: string): string => readFileSync(`${deploy}${path}`, "utf8")

const values = JSON.parse(JSON.stringify(Yaml.parse(read("helm/values.yaml"))))
const fits = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(read("helm/values.schema.json")))
const templates = readdirSync(`${deploy}helm/templates`).toSorted()

/** The documents of the chart by kind, named `prod`. */
const rendered = (changes: object = {}): Readonly<Record<string, ReturnType<typeof JSON.parse>>> => {
  const input: HelmInput = { Values: { ...values, ...changes }, Release: { Name: "prod" } }
  const documents = templates
    .map((name) => renderHelm(read(`helm/templates/${name}`), input))
    .filter((text) => text.trim() !== "")
    .map((text) => JSON.parse(JSON.stringify(Yaml.parse(text))))
  return Object.fromEntries(documents.map((one) => [one.kind, one]))
}

/** The plain manifests with the name and the labels of a release. */
const plain = Object.fromEntries(
  read("kubernetes.yaml")
    .replaceAll(/(serviceAccountN|n)ame: model-gateway\n/g, "$1ame: prod\n")
    .replaceAll(/^( *)app\.kubernetes\.io\/name: prod$/gm, (_, space: string) => {
      const label = `${space}app.kubernetes.io/`
      return `${label}name: model-gateway\n${label}instance: prod`
    })
    .split(/^---$/m)
    .map((text) => JSON.parse(JSON.stringify(Yaml.parse(text))))
    .map((one) => [one.kind, one])
)

describe("Helm chart", () => {
  it("Helm chart: is of this version, and its values fit their schema", () => {
    expect(read("helm/Chart.yaml")).toContain(`\nversion: ${version}\nappVersion: ${version}\n`)
    expect([fits(values), fits.errors]).toEqual([true, null])
    expect(values.image.tag).toBe(version)
  })

  it.each([
    [{ replicas: "two" }],
    [{ replica: 2 }],
    [{ secretName: "" }],
    [{ config: "" }],
    [{ image: { ...values.image, digest: "sha256:1" } }],
    [{ probes: { ...values.probes, startup: { path: "/" } } }]
  ])("Helm chart: refuses the values %j", (changes) => {
    expect(fits({ ...values, ...changes })).toBe(false)
  })

  it("Helm chart: is the manifests of kubernetes.yaml with its own values", () => {
    const { Deployment: deployment, ...others } = rendered()
    const { Deployment: expected, ...otherExpected } = plain
    expect(others).toEqual(otherExpected)
    const [container] = deployment.spec.template.spec.containers
    const [expectedContainer] = expected.spec.template.spec.containers
    expect(container).toEqual({
      ...expectedContainer,
      imagePullPolicy: "IfNotPresent",
      envFrom: [{ secretRef: { name: "model-gateway" } }],
      env: [{ name: "GATEWAY_DATA_DIR", value: "/data" }]
    })
    deployment.spec.template.spec.containers = []
    expected.spec.template.spec.containers = []
    expect(deployment).toEqual(expected)
  })

  it("Helm chart: scales, names its image by digest, and takes the addresses of other secrets", () => {
    const digest = `sha256:${"a".repeat(64)}`
    const changes = {
      autoscaling: { ...values.autoscaling, enabled: true },
      image: { ...values.image, digest },
      postgres: { secretName: "db", key: "uri" },
      redis: { secretName: "cache", key: "url" },
      serviceAccount: { annotations: { "iam.gke.io/gcp-service-account": "a@b.iam.gserviceaccount.com" } },
      podDisruptionBudget: { enabled: false, minAvailable: 1 },
      networkPolicy: { enabled: true, from: [{ podSelector: { matchLabels: { app: "web" } } }] }
    }
    expect(fits({ ...values, ...changes })).toBe(true)
    const documents = rendered(changes)
    expect(Object.keys(documents).toSorted()).toEqual([
      "ConfigMap",
      "Deployment",
      "HorizontalPodAutoscaler",
      "NetworkPolicy",
      "Service",
      "ServiceAccount"
    ])
    const { replicas, template } = documents["Deployment"].spec
    const [{ env, image }] = template.spec.containers
    const from = (name: string, key: string) => ({ secretKeyRef: { name, key } })
    expect([replicas, image, env.slice(1)]).toEqual([
      undefined,
      `model-gateway@${digest}`,
      [
        { name: "GATEWAY_STORE_URL", valueFrom: from("db", "uri") },
        { name: "GATEWAY_REDIS_URL", valueFrom: from("cache", "url") }
      ]
    ])
    expect(documents["ServiceAccount"].metadata.annotations).toEqual(changes.serviceAccount.annotations)
    expect(documents["HorizontalPodAutoscaler"].spec).toMatchObject({
      scaleTargetRef: { kind: "Deployment", name: "prod" },
      minReplicas: 2,
      maxReplicas: 10
    })
    expect(documents["NetworkPolicy"].spec.ingress).toEqual([
      { ports: [{ port: "http" }], from: changes.networkPolicy.from }
    ])
  })

  it("Helm chart: adds variables, volumes and mounts to its own", () => {
    const changes = {
      extraEnv: [{ name: "GATEWAY_LOG_LEVEL", value: "warn" }],
      extraVolumes: [{ name: "ca", secret: { secretName: "company-ca" } }],
      extraVolumeMounts: [{ name: "ca", mountPath: "/certs", readOnly: true }]
    }
    expect(fits({ ...values, ...changes })).toBe(true)
    const { containers, volumes } = rendered(changes)["Deployment"].spec.template.spec
    const { containers: ownContainers, volumes: ownVolumes } = rendered()["Deployment"].spec.template.spec
    expect([containers[0].env, containers[0].volumeMounts, volumes]).toEqual([
      [...ownContainers[0].env, ...changes.extraEnv],
      [...ownContainers[0].volumeMounts, ...changes.extraVolumeMounts],
      [...ownVolumes, ...changes.extraVolumes]
    ])
  })

  it("Helm chart: takes the values of GKE, whose configuration and certificates exist in the pod", () => {
    const { authority } = makeCertificates()
    const gke = { ...values, ...JSON.parse(JSON.stringify(Yaml.parse(read("gke/values.yaml")))) }
    gke.image = { ...values.image, ...gke.image }
    expect([fits(gke), fits.errors]).toEqual([true, null])
    const documents = rendered(gke)
    const { containers } = documents["Deployment"].spec.template.spec
    expect(containers[0].volumeMounts.map((one: { readonly mountPath: string }) => one.mountPath)).toEqual([
      "/config",
      "/data",
      "/certs/sql",
      "/certs/redis"
    ])
    const file = Result.getOrThrow(parseSettingsText("gateway.yaml", documents["ConfigMap"].data["gateway.yaml"])).value
    const settings = Result.getOrThrow(
      readSettings({
        file,
        env: { GATEWAY_REDIS_URL: "rediss://10.0.0.3:6378" },
        flags: {},
        fileText: (path) =>
          path === "/certs/redis/server-ca.pem" ? Result.succeed(authority) : Result.fail(`${path} does not exist`)
      })
    )
    expect(settings.accounts.map(({ credentials, slug }) => [slug, credentials?._tag])).toEqual([
      ["vertex-ai", "ApplicationDefault"],
      ["google", undefined]
    ])
    expect(settings.redisTls).toEqual({ ca: authority })
  })

  it.each([
    ["{{ .Values.nothing }}", ".Values.nothing does not exist"],
    ["{{ include .Values.config }}", "unknown action include .Values.config"],
    ["{{- if .Values.config }}", "an if without its end"],
    ["{{ .Values.image }}", "a list or record is printed without toYaml"]
  ])("Helm chart: the check of templates refuses %s", (source, message) => {
    expect(() => renderHelm(source, { Values: values, Release: { Name: "prod" } })).toThrow(message)
  })
})
