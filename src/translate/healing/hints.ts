// Adds a sentence to refusals that no change of the request can avoid: tools of older models.
// Must not depend on the request that was refused.

/** The sentence for the end of the upstream's text; undefined where nothing helps (H22). */
export const refusalHint = (status: number | undefined, text: string): string | undefined =>
  status === 400 && /does not support tool types: .{0,200}\bcomputer_/i.test(text)
    ? "This model takes the tool type computer_toolset_20260801."
    : undefined
