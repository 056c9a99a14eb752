import type { KnownEventType } from 'webhook-notification/catalogue';
import { oncePerChange } from '../once-per-change';

/**
 * Returns a function that serializes the list of types in its success envelope. The list may have 16 MB, so it is built
 * once per change, and only changed types are serialized again.
 * @param wireOf returns the fields of a type in the list
 */
export function eventTypeList(wireOf: (type: KnownEventType) => object): (types: readonly KnownEventType[]) => Buffer {
  const known = new WeakMap<KnownEventType, Buffer>();
  const jsonOf = (type: KnownEventType): Buffer => {
    const json = known.get(type) ?? Buffer.from(JSON.stringify(wireOf(type)));
    known.set(type, json);
    return json;
  };
  return oncePerChange((types) => {
    const items = types.flatMap((type, i) => [...(i === 0 ? [] : [COMMA]), jsonOf(type)]);
    return Buffer.concat([BEGINNING, ...items, END]);
  });
}

const BEGINNING = Buffer.from('{"success":true,"data":[');
const COMMA = Buffer.from(',');
const END = Buffer.from(']}');
