import type { Lane } from '../lane';

/** How many deliveries of a webhook may begin now. */
export interface Admission extends Lane {
  count: number;
}

/** The webhooks that have deliveries waiting, in the line or parked. They take turns: user by user, then webhook by webhook. */
export class LaneTurns {
  private readonly users = new Map<string, Set<string>>();
  private readonly owners = new Map<string, string>();

  /** How many webhooks. */
  get size(): number {
    return this.owners.size;
  }

  has(webhookId: string): boolean {
    return this.owners.has(webhookId);
  }

  add({ webhookId, userId }: Lane): void {
    if (this.owners.has(webhookId)) return;
    this.owners.set(webhookId, userId);
    const webhooks = this.users.get(userId);
    if (webhooks) webhooks.add(webhookId);
    else this.users.set(userId, new Set([webhookId]));
  }

  remove(webhookId: string): void {
    const userId = this.owners.get(webhookId);
    if (userId === undefined) return;
    this.owners.delete(webhookId);
    const webhooks = this.users.get(userId);
    webhooks?.delete(webhookId);
    if (webhooks?.size === 0) this.users.delete(userId);
  }

  /**
   * Gives out slots in rounds, until `tryAcquire` takes none any more. In each round every user gets one slot, and goes to
   * the end of the line; so each user gets a turn also where slots are few.
   * @param tryAcquire takes a slot for the lane, or answers false
   * @param userMayBegin false: no webhook of this user needs to be asked
   */
  next(tryAcquire: (lane: Lane) => boolean, userMayBegin: (userId: string) => boolean = () => true): Admission[] {
    const admissions = new Map<string, Admission>();
    for (let someoneBegan = true; someoneBegan;) {
      someoneBegan = false;
      for (const [userId, webhooks] of [...this.users]) {
        if (!userMayBegin(userId)) continue;
        const webhookId = firstOf(webhooks, (id) => tryAcquire({ webhookId: id, userId }));
        if (webhookId === undefined) continue;
        someoneBegan = true;
        webhooks.delete(webhookId);
        webhooks.add(webhookId);
        this.users.delete(userId);
        this.users.set(userId, webhooks);
        const count = (admissions.get(webhookId)?.count ?? 0) + 1;
        admissions.set(webhookId, { webhookId, userId, count });
      }
    }
    return [...admissions.values()];
  }
}

function firstOf(ids: ReadonlySet<string>, matches: (id: string) => boolean): string | undefined {
  for (const id of ids) if (matches(id)) return id;
  return undefined;
}
