import { parsedBody, type NativeEvent } from './native-event';

const SOURCE = 'urn:webhook-notification-service';

/**
 * Returns the event as JSON in CloudEvents 1.0, structured mode (JSON Event Format 1.0.2, section 3). `data` has the
 * bytes of the stored body, because those are what JSON.stringify produces. Nothing is cut or replaced. Throws SyntaxError
 * for an invalid body.
 */
export function cloudEvent(event: NativeEvent): string {
  const { id, event: type, createdAt: time, subject, data } = parsedBody(event);
  const source = event.userId === null ? `${SOURCE}:all` : `${SOURCE}:user:${encodeURIComponent(event.userId)}`;
  const datacontenttype = 'application/json';
  return JSON.stringify({ specversion: '1.0', id, source, type, subject, time, datacontenttype, data });
}
