// Tests the cloud resources found in a prepared body, and the members searched for them.
// Must not open sockets or read clocks.
import { expect, it } from "vitest"
import { namedObjects } from "../../src/translate/namedInBody.ts"

it("named objects: both spellings are found at every place an upstream may read", () => {
  const body = {
    cachedContent: "projects/a/locations/l/cachedContents/c",
    cached_content: "projects/b/locations/l/cachedContents/c",
    parameters: { storageUri: "gs://one", storage_uri: "gs://two" },
    contents: [
      {
        parts: [
          { fileData: { fileUri: "gs://in/1" } },
          { file_data: { file_uri: "gs://in/2" } },
          { text: "gs://in/3" },
          { functionCall: { args: { fileUri: "gs://in/4" } } }
        ]
      }
    ],
    tools: [
      { retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: "projects/a/locations/l/ragCorpora/r" }] } } },
      { functionDeclarations: [{ name: "projects/x" }] }
    ]
  }
  const fixed = [
    { use: "write", name: "gs://one" },
    { use: "write", name: "gs://two" },
    { use: "resource", name: "projects/a/locations/l/cachedContents/c" },
    { use: "resource", name: "projects/b/locations/l/cachedContents/c" },
    { use: "resource", name: "projects/a/locations/l/ragCorpora/r" }
  ]
  expect(namedObjects(body, false)).toEqual(fixed)
  expect(namedObjects(body, true)).toEqual([
    ...fixed,
    { use: "read", name: "gs://in/1" },
    { use: "read", name: "gs://in/2" }
  ])
})

it("named objects: the request within a count is searched as one by itself, in both spellings", () => {
  const cached = (name: string) => ({ cached_content: `projects/${name}/locations/l/cachedContents/c` })
  const tools = [{ retrieval: { externalApi: { endpoint: "projects/c/x" } } }]
  expect(
    namedObjects({ generateContentRequest: cached("a"), generate_content_request: { ...cached("b"), tools } }, false)
  ).toEqual([
    { use: "resource", name: "projects/a/locations/l/cachedContents/c" },
    { use: "resource", name: "projects/b/locations/l/cachedContents/c" },
    { use: "resource", name: "projects/c/x" }
  ])
})

it("named objects: a tool without its list is searched as a list of one (TH6)", () => {
  const name = "projects/c/locations/global/collections/x/dataStores/d"
  expect(namedObjects({ tools: { retrieval: { vertexAiSearch: { datastore: name } } } }, false)).toEqual([
    { use: "resource", name }
  ])
})

it("named objects: messages are searched only with a list of objects", () => {
  const looked: Array<string> = []
  const watched = (name: string) => ({ enumerable: true, get: () => looked.push(name) })
  const body = Object.defineProperties(
    {},
    {
      contents: watched("contents"),
      messages: watched("messages"),
      instances: watched("instances"),
      tools: watched("tools")
    }
  )
  expect([namedObjects(body, false), looked]).toEqual([[], ["tools"]])
})

it("named objects: every address outside of what a model reads is a place to write to, in any spelling (W1)", () => {
  const body = {
    contents: [{ role: "user", parts: [{ text: "gs://in/1" }, { fileData: { fileUri: "gs://in/2" } }] }],
    generationOutputConfig: { outputUriPrefix: "gs://out/1" },
    generation_output_config: { output_uri_prefix: "GS://out/2" },
    generationConfig: {
      stopSequences: ["gs://"],
      responseSchema: { description: "gs://x" },
      responseFormat: { video: { gcsUri: " gs://out/3" } }
    },
    outputConfig: { bigqueryDestination: { outputUri: "bq://p.d.t" } },
    labels: { a: "gs://x" }
  }
  const writes = [
    { use: "write", name: "gs://out/1", member: "outputuriprefix" },
    { use: "write", name: "GS://out/2", member: "outputuriprefix" },
    { use: "write", name: " gs://out/3", member: "gcsuri" },
    { use: "write", name: "bq://p.d.t", member: "outputuri" }
  ]
  expect(namedObjects(body, false)).toEqual(writes)
  expect(namedObjects(body, true)).toEqual([...writes, { use: "read", name: "gs://in/2" }])
})
