/** Items that wait, in the order of each user's own. Users take turns, and none may hold more places than are free. */
export class FairQueue<Item extends { userId: string }> {
  private readonly users = new Map<string, Item[]>();
  /** Number of items that wait. */
  size = 0;

  /** @param places most items that wait; half of them for a user who is alone */
  constructor(private readonly places: number) {}

  sizeOf(userId: string): number {
    return this.users.get(userId)?.length ?? 0;
  }

  /** Returns false when there is no place for another item of this user. */
  add(item: Item): boolean {
    if (this.sizeOf(item.userId) >= this.places - this.size) return false;
    const items = this.users.get(item.userId);
    if (items) items.push(item);
    else this.users.set(item.userId, [item]);
    this.size += 1;
    return true;
  }

  /** Returns the users who had no place for another item if there were so many places; null when nobody had. */
  crowded(places: number): string[] | null {
    const free = places - this.size;
    if (free <= 0) return null;
    return [...this.users].filter(([, items]) => items.length >= free).map(([userId]) => userId);
  }

  /**
   * Takes at most `limit` items in rounds: each user gives one, and moves to the end.
   * @param mayTake returns false to skip a user
   */
  take(limit: number, mayTake: (userId: string) => boolean = () => true): Item[] {
    const taken: Item[] = [];
    // A user who is put back is met again, behind all others.
    for (const [userId, items] of this.users) {
      if (taken.length >= limit) break;
      if (!mayTake(userId)) continue;
      taken.push(items.shift() as Item);
      this.users.delete(userId);
      if (items.length > 0) this.users.set(userId, items);
    }
    this.size -= taken.length;
    return taken;
  }
}
