// One seed for every property, so that a run says the same as the one before. TEST_SEED takes another, or `random`.
import * as fc from "fast-check"

const given = process.env["TEST_SEED"] ?? "20270131"

if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) })
