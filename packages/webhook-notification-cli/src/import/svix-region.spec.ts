import { Svix } from 'svix';
import { serverOfKey } from './svix-region';

/** The server that Svix's own client takes. */
const expected = (key: string): unknown =>
  (new Svix(key) as unknown as { requestCtx: { baseUrl: string } }).requestCtx.baseUrl;

describe('The server of an API key of Svix', () => {
  it.each(['us', 'eu', 'in', 'ca', 'au', 'evil.example', 'EU', ''])(
    'is the one that its client takes: x.%s',
    (region) => {
      for (const key of [`testsk_x.${region}`, `sk_x.${region}.more`, `testsk_${region}`])
        expect(serverOfKey(key)).toBe(expected(key));
    },
  );
});
