import { randomFillSync } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { MINUTE_MS } from '../config/durations';

const POOL_BYTES = 4096;

/**
 * Returns a function that returns 16 random bytes at a time. Use them before the pool (4096 bytes) is refilled.
 * Requesting many bytes from the system at once is far cheaper than requesting 16 each time.
 * @param fill overwrites the whole buffer with random bytes
 */
export function randomPool(fill: (pool: Buffer) => void): () => Uint8Array {
  const pool = Buffer.allocUnsafe(POOL_BYTES);
  let left = 0;
  return () => {
    if (left === 0) {
      fill(pool);
      left = POOL_BYTES;
    }
    left -= 16;
    return pool.subarray(left, left + 16);
  };
}

const MEASURE_EVERY_MS = 30_000;
const TOLERATED_OFFSET_MS = 2000;
const LARGEST_STEP_MS = MINUTE_MS;
const SAMPLES = 5;
const NOW_MS = 'select extract(epoch from clock_timestamp()) * 1000 as ms';

export interface NewId {
  id: string;
  at: Date;
}

/**
 * PostgreSQL's clock, as measured by this process every 30 s and continued by a timer in between, so that changes of
 * the machine's own clock do not affect it. Every process writes this time. Machines whose clocks differ therefore
 * agree on the order of events, the partition of a row, and how long a job is locked.
 */
@Injectable()
export class ClockService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ClockService.name);
  /** PostgreSQL's time when `performance.now()` was 0. */
  private zeroMs = Date.now() - performance.now();
  private lastMs = 0;
  private sequence = 0;
  private readonly random = randomPool(randomFillSync);
  private timer?: NodeJS.Timeout;

  constructor(private readonly dataSource: DataSource) {}

  async onModuleInit(): Promise<void> {
    await this.measure();
    this.timer = setInterval(() => void this.measure().catch(() => undefined), MEASURE_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  now(): Date {
    return new Date(this.nowMs());
  }

  /** Returns by how many ms PostgreSQL's clock is ahead of this machine's; negative when it is behind. */
  offsetMs(): number {
    return this.nowMs() - Date.now();
  }

  /**
   * Returns a UUIDv7 (RFC 9562) of the current time. The ids of one process increase, even within a millisecond and while the
   * clock moves back by less than a minute. After a larger step back the clock was wrong, and ids restart at the correct time.
   */
  newId(): NewId {
    const nowMs = this.nowMs();
    const ms = this.lastMs - nowMs < LARGEST_STEP_MS ? Math.max(nowMs, this.lastMs) : nowMs;
    this.sequence = ms === this.lastMs ? this.sequence + 1 : Math.floor(Math.random() * 0x40000000);
    this.lastMs = ms;
    return { id: v7({ msecs: ms, seq: this.sequence, rng: this.random }), at: new Date(ms) };
  }

  private nowMs(): number {
    return Math.floor(this.zeroMs + performance.now());
  }

  /** Uses the fastest of a few round trips, because it gives the most accurate offset. */
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
    if (Math.abs(offsetMs) > TOLERATED_OFFSET_MS)
      this.logger.warn(`This machine's clock differs from PostgreSQL's by ${offsetMs} ms; using PostgreSQL's.`);
  }
}
