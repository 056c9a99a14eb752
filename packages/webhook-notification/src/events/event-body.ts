/**
 * Returns the body that every receiver gets, fixed once at publish. `data` must be JSON text produced by
 * `JSON.stringify`; then `JSON.stringify(JSON.parse(body)) === body` holds. Without a subject it has no such member.
 */
export function eventBody(
  id: string,
  name: string,
  createdAt: Date,
  data: string,
  subject: string | null = null,
): string {
  const about = subject === null ? '' : `"subject":${JSON.stringify(subject)},`;
  return `{"id":"${id}","event":"${name}","createdAt":"${createdAt.toISOString()}",${about}"data":${data}}`;
}
