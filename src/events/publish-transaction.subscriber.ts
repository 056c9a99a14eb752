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
    const innermost = manager.queryRunner && levelsOf(manager.queryRunner).at(-1);
    if (innermost) addAll(innermost, events);
    else this.accepted.committed(events);
  }

  /** TypeORM calls this, and what follows, for savepoints too. */
  afterTransactionStart({ queryRunner }: { queryRunner: QueryRunner }): void {
    levelsOf(queryRunner).push([]);
  }

  /** Only the outermost commit makes rows visible. */
  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    const events = levelsOf(queryRunner).pop() ?? [];
    const outer = levelsOf(queryRunner).at(-1);
    if (outer) addAll(outer, events);
    else this.accepted.committed(events);
  }

  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    levelsOf(queryRunner).pop();
  }
}

/** Also when they are too many for the arguments of one call. */
function addAll(all: AcceptedEvent[], events: readonly AcceptedEvent[]): void {
  for (const event of events) all.push(event);
}

/** The events of each transaction under way, and of each savepoint in it, the innermost last. */
function levelsOf(runner: QueryRunner): AcceptedEvent[][] {
  runner.data[KEY] ??= [];
  return runner.data[KEY] as AcceptedEvent[][];
}
