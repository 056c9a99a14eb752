import type { Lane } from './fair-share';

/** How many parked deliveries of a webhook may begin now. */
export interface LetIn extends Lane {
  count: number;
}

/** The webhooks with parked deliveries. They take their turns: user by user, and among a user's webhooks one by one. */
export class Backlog {
  private readonly users = new Map<string, Set<string>>();
  private readonly owners = new Map<string, string>();

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
   * Who begins next, as long as `tryBegin` takes another one. In each round every user begins one attempt, and he who has
   * begun goes to the end of the line, so that where slots are few each comes to his turn.
   */
  next(tryBegin: (lane: Lane) => boolean): LetIn[] {
    const letIn = new Map<string, LetIn>();
    for (let someoneBegan = true; someoneBegan;) {
      someoneBegan = false;
      for (const [userId, webhooks] of [...this.users]) {
        const webhookId = firstOf(webhooks, (id) => tryBegin({ webhookId: id, userId }));
        if (webhookId === undefined) continue;
        someoneBegan = true;
        webhooks.delete(webhookId);
        webhooks.add(webhookId);
        this.users.delete(userId);
        this.users.set(userId, webhooks);
        const count = (letIn.get(webhookId)?.count ?? 0) + 1;
        letIn.set(webhookId, { webhookId, userId, count });
      }
    }
    return [...letIn.values()];
  }
}

function firstOf(ids: ReadonlySet<string>, matches: (id: string) => boolean): string | undefined {
  for (const id of ids) if (matches(id)) return id;
  return undefined;
}
