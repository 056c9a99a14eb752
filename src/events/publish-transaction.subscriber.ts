import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type EntitySubscriberInterface, type QueryRunner } from 'typeorm';
import { FanOutQueue } from './fan-out.queue';

const KEY = 'publishedEventIds';

/** Hands on the events of a caller's transaction once it has committed. */
@Injectable()
export class PublishTransactionSubscriber implements EntitySubscriberInterface {
  constructor(
    @InjectDataSource() dataSource: DataSource,
    private readonly queue: FanOutQueue,
  ) {
    dataSource.subscribers.push(this);
  }

  /** Notes an event; with a manager outside a transaction its row is there already. */
  note(manager: EntityManager, eventId: string): void {
    const runner = manager.queryRunner;
    if (!runner?.isTransactionActive) return this.queue.handOn([eventId]);
    runner.data[KEY] = [...noted(runner), eventId];
  }

  /** TypeORM tells of released savepoints too: only the outermost commit makes rows visible. */
  afterTransactionCommit({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (queryRunner.isTransactionActive) return;
    this.queue.handOn(noted(queryRunner));
    delete queryRunner.data[KEY];
  }

  /** An event whose savepoint alone was rolled back stays noted: its id leads to no row, which harms nothing. */
  afterTransactionRollback({ queryRunner }: { queryRunner: QueryRunner }): void {
    if (!queryRunner.isTransactionActive) delete queryRunner.data[KEY];
  }
}

function noted(runner: QueryRunner): string[] {
  return (runner.data[KEY] as string[] | undefined) ?? [];
}
