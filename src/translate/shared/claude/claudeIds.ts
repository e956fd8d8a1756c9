// Model ids of Claude in the body of count_tokens.
// Must not depend on routes.

/** count_tokens rejects the aliases `latest` and `default` (table 13). */
export const countedId = (modelId: string): string => modelId.replace(/[@-](latest|default)$/, "")
