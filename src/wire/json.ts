// JSON as a type, for fields of foreign bodies that we pass on unread.
// It must not know our own words.

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json | undefined
}
