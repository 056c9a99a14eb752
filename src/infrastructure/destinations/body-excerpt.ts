import { StringDecoder } from 'node:string_decoder';

/** Keeps the beginning of a response body, and counts the bytes that were read. */
export class BodyExcerpt {
  private readonly chunks: Buffer[] = [];
  private keptBytes = 0;
  private seenBytes = 0;

  /** Keeps at most `maxKeptBytes` for the log, and is full after `maxSeenBytes`. */
  constructor(
    private readonly maxKeptBytes: number,
    private readonly maxSeenBytes: number,
  ) {}

  get isFull(): boolean {
    return this.seenBytes >= this.maxSeenBytes;
  }

  get isCut(): boolean {
    return this.seenBytes > this.keptBytes;
  }

  /** Counts the next bytes of the body and keeps those that fit. */
  add(chunk: Buffer): void {
    this.seenBytes += chunk.length;
    const room = this.maxKeptBytes - this.keptBytes;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.chunks.push(kept);
    this.keptBytes += kept.length;
  }

  /** Returns the kept bytes as UTF-8, with U+FFFD for invalid ones (WHATWG Encoding) and without a character cut at the end. */
  text(): string {
    if (this.chunks.length === 0) return '';
    const bytes = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    return this.isCut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8');
  }
}
