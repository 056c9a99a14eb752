export interface PostmasterFile {
  pid: number;
  port: number;
  /** `starting`, `ready`, `stopping` or, in the first instants, nothing. */
  status: string;
}

/** Reads the text of `postmaster.pid` (PostgreSQL's pidfile.h: pid on line 1, port on 4, status on 8); null when it is not one. */
export function parsePostmasterFile(text: string): PostmasterFile | null {
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3] ?? 0) || 0, status: lines[7] ?? '' };
}

/**
 * The same file naming a process that cannot exist. PostgreSQL then takes it for a leftover, yet still reads its shared
 * memory key on line 7 and so refuses to start beside orphans of the old server, which deleting the file would allow.
 */
export function withoutLivingPid(text: string): string {
  return text.replace(/^\s*\d+/, '2147483646');
}
