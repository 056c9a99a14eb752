import { dataOf, headOf, type NativeEvent } from './native-event';

const SOURCE = 'urn:webhook-notification-service';

/**
 * Returns the event as JSON in CloudEvents 1.0, structured mode (JSON Event Format 1.0.2, section 3). `data` has the bytes of the
 * stored body. Nothing is cut or replaced. Throws SyntaxError for an invalid body.
 */
export function cloudEvent({ body, userId }: NativeEvent): string {
  const { id, event: type, createdAt: time, subject } = headOf(body);
  const source = userId === null ? `${SOURCE}:all` : `${SOURCE}:user:${encodeURIComponent(userId)}`;
  const attributes = { specversion: '1.0', id, source, type, subject, time, datacontenttype: 'application/json' };
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${dataOf(body)}}`;
}
