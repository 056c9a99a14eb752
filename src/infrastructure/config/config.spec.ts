import { Config } from './config';
import { parseConfig } from './settings';

const store = {
  databaseUrl: 'postgres://127.0.0.1:5433/embedded',
  secretsKeys: [Buffer.alloc(32, 1)],
  bootstrapToken: `wns_${'e'.repeat(43)}`,
};

describe('Config.onEmbeddedStore', () => {
  it('takes the url, key and token of the store, and changes nothing else', () => {
    const config = parseConfig({ PORT: '4000' });
    expect(Config.onEmbeddedStore(config, store)).toEqual({ ...config, ...store });
  });

  it('keeps the key and the token that the environment sets', () => {
    const SECRETS_KEY = Buffer.alloc(32, 2).toString('base64');
    const BOOTSTRAP_TOKEN = `wns_${'b'.repeat(43)}`;
    const config = parseConfig({ SECRETS_KEY, BOOTSTRAP_TOKEN });
    const completed = Config.onEmbeddedStore(config, store);
    expect(completed).toEqual({ ...config, databaseUrl: store.databaseUrl });
  });
});
