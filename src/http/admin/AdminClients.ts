// GET /admin/v1/clients: the lines that connect each client, with places for address, key and model.
// It must not depend on which clients there are.
import * as Effect from "effect/Effect"
import { clientLines } from "../../api/clients/clientLines.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import { listOf } from "./adminRows.ts"

const clients = listOf(
  clientLines.map((client) => ({ object: "client", ...client })),
  undefined
)

export const AdminClients = keyedRoute(
  "GET",
  "/admin/v1/clients",
  Effect.succeed(({ incoming }) => json(clients, incoming)),
  "admin"
)
