export interface PostmasterFile {
  pid: number;
  port: number;
  /** `starting`, `ready` or `stopping`; empty just after its creation. */
  status: string;
}

/** Parses a `postmaster.pid` (PostgreSQL's pidfile.h: pid on line 1, port on 4, status on 8). Null for other texts. */
export function parsePostmasterFile(text: string): PostmasterFile | null {
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3] ?? 0) || 0, status: lines[7] ?? '' };
}

/**
 * Returns the same file with the pid of a process that cannot exist. PostgreSQL then treats the file as stale, but
 * still reads the shared memory key on line 7. It therefore refuses to start next to orphans of the old server, which
 * it would not if the file were deleted.
 */
export function withoutLivingPid(text: string): string {
  return text.replace(/^\s*\d+/, '2147483646');
}
