// Texts of a prompt: its variables, and the lines that ask it.
// Must not know how a prompt is rendered.

const variable = /\\?\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}/g

/** The names of the variables in a prompt, in their order; `\{{` is text. */
export const variablesIn = (prompt: unknown): ReadonlyArray<string> => {
  const names = new Set<string>()
  // In JSON a backslash of a text is written twice.
  for (const [whole, name = ""] of JSON.stringify(prompt ?? null)
    .replaceAll("\\\\", "\\")
    .matchAll(variable))
    if (!whole.startsWith("\\")) names.add(name)
  return [...names]
}

/** A text inside single quotes of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The same prompt as curl and by OpenAI's client, whose body takes `variables` as well. */
export const snippetOf = (origin: string, reference: string, variables: Readonly<Record<string, string>>): string => {
  const body = JSON.stringify({ variables })
  return [
    `curl -s ${quoted(`${origin}/v1/prompts/${reference}/completions`)} -H 'content-type: application/json'`,
    `-H "x-gateway-api-key: $GATEWAY_KEY"`,
    `-d ${quoted(body)}`
  ].join(" \\\n  ")
}
