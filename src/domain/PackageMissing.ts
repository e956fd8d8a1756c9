// The failure of a feature whose optional package is not installed.
// It must not know how a package is loaded.
import * as Schema from "effect/Schema"

/** `setting` asks for `packages`, and npm has left them out; `also` is no package of ours. Without the setting the service starts. */
export class PackageMissing extends Schema.TaggedError<PackageMissing>()("PackageMissing", {
  setting: Schema.String,
  packages: Schema.String,
  also: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `${this.setting} is set, but ${this.packages} cannot be loaded: run npm install --include=optional${this.also === undefined ? "" : ` ${this.also}`}, or take the setting out`
  }
}
