let ids: readonly string[] = [];

/** The deliveries of the list that one has come from, so that one can go on to the one after. */
export const lastList = {
  set: (next: readonly string[]): void => void (ids = next),

  /** The ids before and after this one; undefined at the ends, and when it was not come to from a list. */
  around(id: string): { before: string | undefined; after: string | undefined } {
    const at = ids.indexOf(id);
    return { before: at < 0 ? undefined : ids[at - 1], after: at < 0 ? undefined : ids[at + 1] };
  },
};
