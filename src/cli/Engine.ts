// How V8 is to run a gateway. Set before its code is loaded.
// It must not know any of that code.
import { setFlagsFromString } from "node:v8"

// V8 puts what often lives on among the old from the start. Part of a request is such at times, dies like the rest of it,
// and keeps that rest until the next large collection: small ones took five times as long, for a tenth of the CPU time.
setFlagsFromString("--no-allocation-site-pretenuring")
// An idle V8 collects what it can, compiled code too, and is slow for thousands of requests when traffic comes back.
setFlagsFromString("--memory-reducer-gc-count=0")
// Most places here meet more than four shapes, those of Effect's operations above all, and V8 looks up what it does not
// compile for them; and a request is one long way through small functions (`bench`, unary: 7 % of its CPU time).
setFlagsFromString("--max-valid-polymorphic-map-count=16")
setFlagsFromString("--max-inlined-bytecode-size-cumulative=3600")
