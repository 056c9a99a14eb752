/**
 * Returns the body that every receiver gets, fixed once at publish. `data` must be JSON text produced by
 * `JSON.stringify`; then `JSON.stringify(JSON.parse(body)) === body` holds.
 */
export function eventBody(id: string, name: string, createdAt: Date, data: string): string {
  return `{"id":"${id}","event":"${name}","createdAt":"${createdAt.toISOString()}","data":${data}}`;
}
