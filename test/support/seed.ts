// One seed for every property, so that runs repeat. TEST_SEED sets another seed, or `random`.
// Must not depend on a property.
import * as fc from "fast-check"

const given = process.env["TEST_SEED"] ?? "20270131"

if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) })
