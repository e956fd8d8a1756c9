// Text of a client made fit for a quotation within one line of an answer.
// It must not know which answer.

/** Cut to 64 characters; what is not printable ASCII, and the quote that would end the quotation, become "?". */
export const printable = (text: string): string => text.slice(0, 64).replace(/[^\x20-\x7e]|"/g, "?")
