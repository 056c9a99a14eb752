export interface PostmasterFile {
  pid: number;
  port: number;
  /** `starting`, `ready` or `stopping`; empty in the first instants. */
  status: string;
}

/** Reads a `postmaster.pid` (PostgreSQL's pidfile.h: pid on line 1, port on 4, status on 8). Null for other texts. */
export function parsePostmasterFile(text: string): PostmasterFile | null {
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3] ?? 0) || 0, status: lines[7] ?? '' };
}

/**
 * The same file with the number of a process that cannot exist. PostgreSQL then takes the file for a leftover, but
 * still reads the shared memory key on line 7. So it refuses to start beside orphans of the old server, as it would not
 * if the file were deleted.
 */
export function withoutLivingPid(text: string): string {
  return text.replace(/^\s*\d+/, '2147483646');
}
