import { Resolver, type ResolverOptions } from 'node:dns';
import { Logger } from '@nestjs/common';
import type { FollowedFile } from './followed-file.client';
import type { ResolverConfig } from './resolver-files';

/** The longest time that one of several servers has to answer, so that the next one has time, too. */
const MAX_TRY_MS = 2000;
/** Time for the first of two tries of a single server. */
const SINGLE_TRY_MS = 500;
const ASK_EVERY_MS = 1000;

/** There is no such record, or no such name can be asked for: the servers work. */
const ANSWERS: readonly (string | undefined)[] = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

export const isAnswer = (code: string | undefined): boolean => ANSWERS.includes(code);

/** The name servers of this service: those of the setting, otherwise those of `/etc/resolv.conf` as it is now. */
export class NameServers {
  private readonly logger = new Logger(NameServers.name);
  private servers: readonly string[] = [];
  /** Queries all servers: the next one when one is silent, but not when one returns an error. */
  private all!: Resolver;
  private each: readonly Resolver[] = [];
  private asked: { at: number; isDown: Promise<boolean> } | null = null;
  private isFailing = false;
  private isClosed = false;

  /** @param given as `address[:port]`; empty uses those of the system */
  constructor(
    private readonly given: readonly string[],
    private readonly system: FollowedFile<ResolverConfig>,
    private readonly timeoutMs: number,
  ) {
    this.use(given.length > 0 ? given : system.current().servers);
  }

  /** Returns what to query for a name, one after the other as long as the servers return errors. */
  inTurn(): readonly Resolver[] {
    const { servers } = this.system.current();
    // A file that is being written, or that a network left empty, names no servers: the last ones may still answer.
    if (this.given.length === 0 && servers.length > 0 && servers.join() !== this.servers.join()) this.use(servers);
    return this.each.length > 1 ? [this.all, ...this.each] : [this.all];
  }

  /** Returns true when no server answers for the root either. Asks them at most once a second. Never rejects. */
  areDown(): Promise<boolean> {
    const now = performance.now();
    if (this.isClosed) return Promise.resolve(false);
    if (this.asked === null || now - this.asked.at >= ASK_EVERY_MS) this.asked = { at: now, isDown: this.askForRoot() };
    return this.asked.isDown;
  }

  answered(): void {
    if (this.isFailing) this.logger.log('The name servers of this service answer again.');
    this.isFailing = false;
  }

  close(): void {
    this.isClosed = true;
    for (const resolver of [this.all, ...this.each]) resolver.cancel();
  }

  /** @param servers none: those that the resolver finds by itself, as on Windows */
  private use(servers: readonly string[]): void {
    // The former resolvers end the lookups that they have begun.
    this.all = resolverOf(servers, { timeout: Math.min(MAX_TRY_MS, Math.ceil(this.timeoutMs / 4)), tries: 3 });
    const single = { timeout: SINGLE_TRY_MS, tries: 2 };
    this.each = servers.length > 0 ? servers.map((server) => resolverOf([server], single)) : [resolverOf([], single)];
    this.servers = servers;
    this.asked = null;
  }

  private async askForRoot(): Promise<boolean> {
    try {
      await Promise.any(this.each.map(askForRoot));
      this.answered();
      return false;
    } catch (error) {
      this.failed((error as AggregateError).errors as readonly NodeJS.ErrnoException[]);
      return true;
    }
  }

  private failed(errors: readonly NodeJS.ErrnoException[]): void {
    if (this.isFailing || this.isClosed) return;
    const codes = errors.map(({ code = 'unknown error' }) => code);
    this.logger.warn(
      `The name servers of this service do not answer, not for the root either (${codes.join(', ')}); ` +
        'deliveries that need them wait, and are tried every 30 s.',
    );
    this.isFailing = true;
  }
}

function resolverOf(servers: readonly string[], options: ResolverOptions): Resolver {
  const resolver = new Resolver(options);
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

/** Resolves when the server answers; rejects with its error otherwise. Any server knows the root without asking others. */
const askForRoot = (resolver: Resolver): Promise<void> =>
  new Promise((resolve, reject) => {
    resolver.resolveNs('.', (error) => (error === null || isAnswer(error.code) ? resolve() : reject(error)));
  });
