// The error of a setting whose optional npm package is not installed.
// It must not know how a package is loaded.
import * as Schema from "effect/Schema"

/**
 * `setting` needs `packages`, which npm did not install; `also` names a package outside the gateway's own optional
 * ones. Without the setting the service starts.
 */
export class PackageMissing extends Schema.TaggedError<PackageMissing>()("PackageMissing", {
  setting: Schema.String,
  packages: Schema.String,
  also: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `${this.setting} is set, but ${this.packages} cannot be loaded: run npm install --include=optional${this.also === undefined ? "" : ` ${this.also}`}, or take the setting out`
  }
}
