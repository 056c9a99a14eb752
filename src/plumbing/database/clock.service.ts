import { randomFillSync } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { randomPool } from './random-pool';

const MEASURE_EVERY_MS = 30_000;
const TOLERATED_OFFSET_MS = 2000;
const LARGEST_STEP_MS = 60_000;
const SAMPLES = 5;
const NOW_MS = 'select extract(epoch from clock_timestamp()) * 1000 as ms';

/** A fresh UUIDv7 and the instant inside it. */
export interface Birth {
  id: string;
  at: Date;
}

/**
 * PostgreSQL's clock as this process knows it. It is measured every 30 s and runs on a timer in between, so a change of
 * the machine's own clock does not move it. Every process writes this time. Machines whose clocks differ therefore
 * agree on what came first, on the partition of a row, and on how long a job is locked.
 */
@Injectable()
export class ClockService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Clock');
  /** PostgreSQL's time when `performance.now()` was 0. */
  private zeroMs = Date.now() - performance.now();
  private lastMs = 0;
  private sequence = 0;
  private readonly random = randomPool(randomFillSync);
  private timer?: NodeJS.Timeout;

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async onModuleInit(): Promise<void> {
    await this.measure();
    this.timer = setInterval(() => void this.measure().catch(() => undefined), MEASURE_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** PostgreSQL's time. */
  now(): Date {
    return new Date(this.nowMs());
  }

  /** By how many ms PostgreSQL's clock is ahead of this machine's; negative when it is behind. */
  offsetMs(): number {
    return this.nowMs() - Date.now();
  }

  /**
   * A UUIDv7 (RFC 9562) of now. The ids of one process increase, also within a millisecond and while the clock goes back by
   * less than a minute. Beyond that the clock was wrong, and ids begin again with the right time.
   */
  birth(): Birth {
    const nowMs = this.nowMs();
    const ms = this.lastMs - nowMs < LARGEST_STEP_MS ? Math.max(nowMs, this.lastMs) : nowMs;
    this.sequence = ms === this.lastMs ? this.sequence + 1 : Math.floor(Math.random() * 0x40000000);
    this.lastMs = ms;
    return { id: v7({ msecs: ms, seq: this.sequence, rng: this.random }), at: new Date(ms) };
  }

  private nowMs(): number {
    return Math.floor(this.zeroMs + performance.now());
  }

  /** Uses the quickest of a few round trips: it gives the most exact offset. */
  private async measure(): Promise<void> {
    let quickestMs = Infinity;
    for (let i = 0; i < SAMPLES; i++) {
      const sentAt = performance.now();
      const [row] = await this.dataSource.query<{ ms: string }[]>(NOW_MS);
      const tookMs = performance.now() - sentAt;
      if (tookMs >= quickestMs) continue;
      quickestMs = tookMs;
      this.zeroMs = Number(row?.ms) - sentAt - tookMs / 2;
    }
    const offsetMs = this.offsetMs();
    if (Math.abs(offsetMs) > TOLERATED_OFFSET_MS) {
      this.logger.warn(`This machine's clock differs from PostgreSQL's by ${offsetMs} ms; PostgreSQL's is used.`);
    }
  }
}
