// Reads the headers of one request and keeps the first fault, so that a caller reads all of them and asks once.
// It must not depend on what a header means for routing, or on the key of the request.
import { type GatewayHeader, gatewayHeader, type HeaderRecord } from "../../api/Headers.ts"
import { BodyInvalid, type GatewayError } from "../../domain/GatewayError.ts"

/** One object per request, without a `Result` per header. A faulty header reads as absent. */
export class HeaderReader {
  readonly headers: HeaderRecord
  /** False: no gateway header is there to be read. */
  readonly hasOptions: boolean
  /** The first fault in the order of reading. */
  fault: GatewayError | undefined = undefined

  constructor(headers: HeaderRecord, hasOptions = true) {
    this.headers = headers
    this.hasOptions = hasOptions
  }

  /** The value of a gateway header, under its own name or its alias. */
  text(header: GatewayHeader): string | undefined {
    return this.hasOptions ? gatewayHeader(this.headers, header) : undefined
  }

  /** Keeps the fault, unless an earlier header has one. */
  refuse(fault: GatewayError): undefined {
    this.fault ??= fault
  }

  /** Refuses a value that is not of the grammar of its header. */
  invalid(name: string, rule: string): undefined {
    this.refuse(new BodyInvalid({ code: "invalid_header", param: name, message: `${name} ${rule}` }))
  }

  /** A switch, in any case of letters. */
  flag(name: string, value: string | undefined, absent: boolean): boolean {
    if (value === undefined) return absent
    const word = value.toLowerCase()
    if (word !== "true" && word !== "false") this.invalid(name, 'is "true" or "false", sent once.')
    return word === "true"
  }
}
