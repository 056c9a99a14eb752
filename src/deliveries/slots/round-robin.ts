import type { Grant, PartitionKey } from '../rows/attempt';

/** The webhooks that have waiting deliveries. They take turns: user by user, then webhook by webhook. */
export class RoundRobin {
  private readonly users = new Map<string, Set<string>>();
  private readonly owners = new Map<string, string>();
  /** The most slots of one call of `next`, for webhooks that have such a limit. */
  private readonly limits = new Map<string, number>();

  get size(): number {
    return this.owners.size;
  }

  has(webhookId: string): boolean {
    return this.owners.has(webhookId);
  }

  isLimited(webhookId: string): boolean {
    return this.limits.has(webhookId);
  }

  /** @param limit the most slots that the webhook gets in one call of `next` */
  add({ webhookId, userId }: PartitionKey, limit?: number): void {
    if (limit === undefined) this.limits.delete(webhookId);
    else this.limits.set(webhookId, limit);
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
    this.limits.delete(webhookId);
    const webhooks = this.users.get(userId);
    webhooks?.delete(webhookId);
    if (webhooks?.size === 0) this.users.delete(userId);
  }

  /**
   * Grants slots in rounds, until `tryAcquire` returns false for every webhook. In each round every user gets one slot and moves
   * to the end, so that each user gets a turn even when slots are scarce.
   * @param tryAcquire acquires a slot for the webhook, or returns false
   * @param userMayBegin returns false to skip all webhooks of a user
   */
  next(tryAcquire: (key: PartitionKey) => boolean, userMayBegin: (userId: string) => boolean = () => true): Grant[] {
    const grants = new Map<string, Grant>();
    const hasAll = (id: string): boolean => {
      const limit = this.limits.get(id);
      return limit !== undefined && (grants.get(id)?.count ?? 0) >= limit;
    };
    for (let isGranted = true; isGranted;) {
      isGranted = false;
      for (const [userId, webhooks] of [...this.users]) {
        if (!userMayBegin(userId)) continue;
        const webhookId = firstOf(webhooks, (id) => !hasAll(id) && tryAcquire({ webhookId: id, userId }));
        if (webhookId === undefined) continue;
        isGranted = true;
        webhooks.delete(webhookId);
        webhooks.add(webhookId);
        this.users.delete(userId);
        this.users.set(userId, webhooks);
        const count = (grants.get(webhookId)?.count ?? 0) + 1;
        grants.set(webhookId, { webhookId, userId, count });
      }
    }
    return [...grants.values()];
  }
}

function firstOf(ids: ReadonlySet<string>, matches: (id: string) => boolean): string | undefined {
  for (const id of ids) if (matches(id)) return id;
  return undefined;
}
