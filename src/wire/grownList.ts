// A list that grows at its end while a stream is read: appending copies nothing, and an earlier list stays as it was.
// It must not know what its items mean.

/** Linked backwards. A fold keeps such lists in its state; a copy for each item would take quadratic time. */
export type GrownList<A> = Grown<A> | undefined

interface Grown<A> {
  readonly last: A
  readonly before: GrownList<A>
  readonly size: number
}

export const grow = <A>(list: GrownList<A>, item: A): GrownList<A> => ({
  last: item,
  before: list,
  size: sizeOf(list) + 1
})

export const growBy = <A>(list: GrownList<A>, items: Iterable<A>): GrownList<A> => {
  let grown = list
  for (const item of items) grown = grow(grown, item)
  return grown
}

/** The list with another last item. */
export const withLast = <A>(list: GrownList<A>, item: A): GrownList<A> => grow(list?.before, item)

export const sizeOf = (list: GrownList<unknown>): number => (list === undefined ? 0 : list.size)

/** All items, the first one first. Takes as many steps as there are items, so it is for the end of a reading. */
export const itemsOf = <A>(list: GrownList<A>): ReadonlyArray<A> => {
  if (list === undefined) return []
  const items: Array<A> = []
  for (let at: GrownList<A> = list; at !== undefined; at = at.before) items.push(at.last)
  return items.toReversed()
}
