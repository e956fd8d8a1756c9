// The prompt that a reference means for a key, and the model that comes with it.
// It must not depend on where a request names its prompt.
import type { Prompts } from "../../catalog/Prompts.ts"
import type { ReadyPrompt } from "../../catalog/readyPrompts.ts"
import { allows, type GatewayKey, lists } from "../../domain/GatewayKey.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"

const idOf = (reference: string): string => reference.split("@", 1)[0] ?? ""

/** One that the key may not name counts as absent. */
export const promptOf = ({ find }: Prompts["Service"], reference: string, key: GatewayKey): ReadyPrompt | undefined =>
  allows(key.prompts, idOf(reference)) ? find(reference) : undefined

/** The model of a prompt that the key lists is granted with it; the router grants it to requests for that model only. */
export const granting = (context: RequestContext, { model }: ReadyPrompt, reference: string): RequestContext =>
  model !== undefined && lists(context.key.prompts, idOf(reference)) ? { ...context, grantedModel: model } : context
