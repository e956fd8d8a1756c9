// Calls as items: functions piece by piece, custom tools as one text when they are whole.
// It must not know chunks. Rules: R314, R317, R520.
import type { ToolCallDelta } from "../../../wire/openai/ChatReply.ts"
import type { CustomToolCallItem, FunctionCallItem } from "../../../wire/openai/responses/Items.ts"
import { customInput } from "../../shared/chat-request/customTools.ts"
import type { ToolName } from "../facts.ts"
import { announce, done, next, type OpenCall, place, type Work } from "./work.ts"

const nameOf = (work: Work, called: string): ToolName =>
  work.facts.plan.names.get(called) ?? { name: called, namespace: undefined, isCustom: false }

const functionItem = (
  { callId, id, text }: OpenCall,
  { name, namespace }: ToolName,
  status: FunctionCallItem["status"]
): FunctionCallItem => ({
  id,
  type: "function_call",
  status,
  call_id: callId,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  arguments: text
})

const customItem = ({ callId, id }: OpenCall, { name, namespace }: ToolName, input: string): CustomToolCallItem => ({
  id,
  type: "custom_tool_call",
  call_id: callId,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  input
})

export const openCall = (work: Work, { function: called, id = "", index }: ToolCallDelta): OpenCall => {
  const own = nameOf(work, called.name ?? "")
  const at = place(work, own.isCustom ? "ctc" : "fc")
  const open: OpenCall = { index, ...at, callId: id, called: called.name ?? "", text: "" }
  announce(work, open.outputIndex, own.isCustom ? customItem(open, own, "") : functionItem(open, own, "in_progress"))
  return open
}

export const growCall = (work: Work, open: OpenCall, text: string): OpenCall => {
  if (text === "") return open
  if (!nameOf(work, open.called).isCustom)
    work.events.push({
      type: "response.function_call_arguments.delta",
      sequence_number: next(work),
      item_id: open.id,
      output_index: open.outputIndex,
      delta: text
    })
  return { ...open, text: open.text + text }
}

export const closeCall = (work: Work, open: OpenCall, status: "completed" | "incomplete"): void => {
  const own = nameOf(work, open.called)
  const at = { item_id: open.id, output_index: open.outputIndex }
  if (own.isCustom) {
    const input = customInput(open.text)
    work.events.push(
      { type: "response.custom_tool_call_input.delta", sequence_number: next(work), ...at, delta: input },
      { type: "response.custom_tool_call_input.done", sequence_number: next(work), ...at, input }
    )
    return done(work, open.outputIndex, customItem(open, own, input))
  }
  work.events.push({
    type: "response.function_call_arguments.done",
    sequence_number: next(work),
    ...at,
    name: own.name,
    arguments: open.text
  })
  done(work, open.outputIndex, functionItem(open, own, status))
}
