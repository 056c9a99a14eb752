import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type EntitySubscriberInterface, type QueryRunner } from 'typeorm';
import { type AcceptedEvent, AcceptedEventsService } from './accepted-events.service';

const KEY = 'acceptedEvents';

/** Keeps the events of a caller's transaction until it has committed, and only then has them offered to the fan-out. */
@Injectable()
export class PublishTransactionSubscriber implements EntitySubscriberInterface {
  constructor(
    @InjectDataSource() dataSource: DataSource,
    private readonly accepted: AcceptedEventsService,
  ) {
    dataSource.subscribers.push(this);
  }

  /** Keeps events until the commit. With a manager outside a transaction their rows are committed already. */
  note(manager: EntityManager, events: readonly AcceptedEvent[]): void {
    const runner = manager.queryRunner;
    if (!runner?.isTransactionActive) return this.accepted.committed(events);
    const earlier = noted(runner);
    earlier.push(...events);
    runner.data[KEY] = earlier;
  }

  /** TypeORM calls this for released savepoints too. Only the outermost commit makes rows visible. */
  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (queryRunner.isTransactionActive) return;
    this.accepted.committed(noted(queryRunner));
    delete queryRunner.data[KEY];
  }

  /** When only a savepoint is rolled back, its events are kept. Their ids lead to no row, which does no harm. */
  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) delete queryRunner.data[KEY];
  }
}

function noted(runner: QueryRunner): AcceptedEvent[] {
  return (runner.data[KEY] as AcceptedEvent[] | undefined) ?? [];
}
