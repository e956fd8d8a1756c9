// Ids of Claude models where they stand in a body.
// It must not know routes.

/** Counting knows no alias of the newest version (table 13). */
export const countedId = (modelId: string): string => modelId.replace(/[@-](latest|default)$/, "")
