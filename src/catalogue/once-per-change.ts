/**
 * Returns a function that calls `make` only for a list that differs from the previous one, and otherwise returns the previous
 * result. Items are compared by identity, so a changed item must be another object.
 */
export function oncePerChange<Item, Made>(make: (items: readonly Item[]) => Made): (items: readonly Item[]) => Made {
  let last: { items: readonly Item[]; made: Made } | undefined;
  return (items) => {
    const isSame = last?.items.length === items.length && last.items.every((item, i) => item === items[i]);
    if (!last || !isSame) last = { items: [...items], made: make(items) };
    return last.made;
  };
}
