import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type EntitySubscriberInterface, type QueryRunner } from 'typeorm';
import { type AcceptedEvent, AcceptedEventsService } from './accepted-events.service';

const KEY = 'acceptedEvents';

/** Holds the events of a caller's transaction until it has committed, and only then enqueues them for the fan-out. */
@Injectable()
export class PublishTransactionSubscriber implements EntitySubscriberInterface {
  constructor(
    dataSource: DataSource,
    private readonly accepted: AcceptedEventsService,
  ) {
    dataSource.subscribers.push(this);
  }

  /** Holds events until the commit. With a manager outside a transaction, their rows are already committed. */
  note(manager: EntityManager, events: readonly AcceptedEvent[]): void {
    const innermost = manager.queryRunner && levelsOf(manager.queryRunner).at(-1);
    if (innermost) addAll(innermost, events);
    else this.accepted.committed(events);
  }

  /** TypeORM calls this, and the methods below, for savepoints too. */
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

/** Avoids `push(...events)`: there may be too many events for the arguments of one call. */
function addAll(all: AcceptedEvent[], events: readonly AcceptedEvent[]): void {
  for (const event of events) all.push(event);
}

function levelsOf(runner: QueryRunner): AcceptedEvent[][] {
  runner.data[KEY] ??= [];
  return runner.data[KEY] as AcceptedEvent[][];
}
