import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type EntitySubscriberInterface, type QueryRunner } from 'typeorm';
import { type AcceptedEvent, AcceptedEventsService } from './accepted-events.service';

const KEY = 'acceptedEvents';

/** Hands on the events of a caller's transaction once it has committed. */
@Injectable()
export class PublishTransactionSubscriber implements EntitySubscriberInterface {
  constructor(
    @InjectDataSource() dataSource: DataSource,
    private readonly accepted: AcceptedEventsService,
  ) {
    dataSource.subscribers.push(this);
  }

  /** Notes events; with a manager outside a transaction their rows are there already. */
  note(manager: EntityManager, events: readonly AcceptedEvent[]): void {
    const runner = manager.queryRunner;
    if (!runner?.isTransactionActive) return this.accepted.committed(events);
    const earlier = noted(runner);
    earlier.push(...events);
    runner.data[KEY] = earlier;
  }

  /** TypeORM tells of released savepoints too: only the outermost commit makes rows visible. */
  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (queryRunner.isTransactionActive) return;
    this.accepted.committed(noted(queryRunner));
    delete queryRunner.data[KEY];
  }

  /** An event whose savepoint alone was rolled back stays noted: its id leads to no row, which harms nothing. */
  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) delete queryRunner.data[KEY];
  }
}

function noted(runner: QueryRunner): AcceptedEvent[] {
  return (runner.data[KEY] as AcceptedEvent[] | undefined) ?? [];
}
