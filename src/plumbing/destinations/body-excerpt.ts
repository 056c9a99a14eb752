import { StringDecoder } from 'node:string_decoder';

/** The beginning of a response body: what is kept of it, and how much of it has gone by. */
export class BodyExcerpt {
  private readonly chunks: Buffer[] = [];
  private keptBytes = 0;
  private seenBytes = 0;

  /**
   * @param maxKeptBytes how much is kept for the log
   * @param maxSeenBytes how much may go by before `isFull`
   */
  constructor(
    private readonly maxKeptBytes: number,
    private readonly maxSeenBytes: number,
  ) {}

  /** True once as much has gone by as may be read at all. */
  get isFull(): boolean {
    return this.seenBytes >= this.maxSeenBytes;
  }

  get isCut(): boolean {
    return this.seenBytes > this.keptBytes;
  }

  add(chunk: Buffer): void {
    this.seenBytes += chunk.length;
    const room = this.maxKeptBytes - this.keptBytes;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.chunks.push(kept);
    this.keptBytes += kept.length;
  }

  /** The kept bytes as UTF-8, U+FFFD where they are none (WHATWG Encoding); a character cut at the end is left out. */
  text(): string {
    if (this.chunks.length === 0) return '';
    const bytes = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    return this.isCut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8');
  }
}
