// Samples that fill the fields of the playground.
// Must not know the form.

export const sampleTools = JSON.stringify(
  [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "The weather of a city now.",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
      }
    }
  ],
  null,
  2
)

export const sampleSchema = JSON.stringify(
  {
    type: "object",
    properties: { answer: { type: "string" }, confidence: { type: "number" } },
    required: ["answer", "confidence"]
  },
  null,
  2
)

/** What a tool may return: its name and arguments, so that the model has something to read. */
export const sampleResult = (name: string, given: string): string =>
  JSON.stringify({ tool: name, arguments: given, result: "18 °C and sunny" })
