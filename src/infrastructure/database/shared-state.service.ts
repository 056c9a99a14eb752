import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Batcher } from '../concurrency/batcher';
import { logFirst, Repeat } from '../concurrency/repeat.timer';
import { StatementsService } from './statements.service';

const READ_EVERY_MS = 1000;
const MAX_CALLERS = 10_000;

interface Watched {
  query: string;
  changed: (state: string) => Promise<void> | void;
  /** The last state that `changed` has processed. */
  state?: string;
}

/** Tells every process what others have changed: one statement a second reads all watched states. */
@Injectable()
export class SharedStateService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly watched: Watched[] = [];
  /** A call during a query waits for the next query, which sees everything committed before the call. */
  private readonly reads = new Batcher<null, void>(async (callers) => {
    await this.read();
    return callers.map(() => undefined);
  }, MAX_CALLERS);
  private readonly repeat = new Repeat(() => this.refresh(), {
    everyMs: READ_EVERY_MS,
    onFailure: logFirst(new Logger(SharedStateService.name), 'Querying changes of other processes'),
  });

  constructor(private readonly statements: StatementsService) {}

  onApplicationBootstrap(): void {
    this.repeat.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.repeat.stop();
  }

  /**
   * Watches a state; called by constructors.
   * @param query a scalar query of a text that differs after every change
   * @param changed called with the first and every new state, one call at a time, and again after it has thrown
   */
  watch(query: string, changed: Watched['changed']): void {
    this.watched.push({ query, changed });
  }

  /** Resolves when all watchers have processed earlier commits. Throws while PostgreSQL is unavailable. */
  async refresh(): Promise<void> {
    await this.reads.add(null);
  }

  private async read(): Promise<void> {
    const queries = this.watched.map(({ query }) => `(${query})`).join(', ');
    const statement = { name: 'shared_state', text: `select array[${queries}]::text[] as states` };
    const [row] = await this.statements.run<{ states: string[] }>(statement, []);
    const noted = this.watched.map(async (watched, i) => {
      const state = row?.states[i];
      if (state === undefined || state === watched.state) return;
      await watched.changed(state);
      watched.state = state;
    });
    const failed = (await Promise.allSettled(noted)).find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
