import { readFileSync, statSync } from 'node:fs';

const CHECK_EVERY_MS = 1000;

/**
 * A small file of the system that may change at any time, also by a rename or a link. It is checked when it is needed, at most once
 * a second, on the event loop: threads of the pool may be blocked by a slow `getaddrinfo`.
 */
export class FollowedFile<Parsed> {
  private checkedAt = -Infinity;
  /** Null until it could be read. */
  private version: string | null = null;
  private parsed: Parsed;

  /** @param parse parses the text, null when the file is missing or cannot be read; `before` is the last result */
  constructor(
    private readonly path: string,
    private readonly parse: (text: string | null, before: Parsed) => Parsed,
    initial: Parsed,
  ) {
    this.parsed = initial;
  }

  /** Returns the parsed content: the same object until the file changes. Never throws. */
  current(): Parsed {
    const now = performance.now();
    if (now - this.checkedAt >= CHECK_EVERY_MS) {
      this.checkedAt = now;
      this.check();
    }
    return this.parsed;
  }

  private check(): void {
    let text: string | null = null;
    let version: string | null;
    try {
      const { mtimeNs, ctimeNs, ino, size } = statSync(this.path, { bigint: true });
      version = [mtimeNs, ctimeNs, ino, size].join();
      if (version === this.version) return;
      text = readFileSync(this.path, 'utf8');
    } catch {
      version = null;
    }
    this.version = version;
    this.parsed = this.parse(text, this.parsed);
  }
}
