import { dataOf } from '../../support/api';
import { useHostileReceivers } from '../../support/hostile-receiver';
import { useReceiver } from '../../support/receiver';
import { freePort, startService } from '../../support/service';
import { startSquid, type Squid } from '../../support/squid';
import { waitFor } from '../../support/wait-for';
import { describeWhereInstalled } from '../../support/programs';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const USER = 'wëbhooks';
const PASSWORD = 'p@ss:w%rd/';

describeWhereInstalled('squid', 'Squid', () => {
  const receiver = useReceiver();
  const startReceiver = useHostileReceivers();
  let squid: Squid;
  beforeAll(async () => (squid = await startSquid(USER, PASSWORD)));
  afterAll(() => squid.stop());

  const urlWith = (password: string) =>
    `http://${encodeURIComponent(USER)}:${encodeURIComponent(password)}@127.0.0.2:${squid.port}`;

  it('forwards deliveries through tunnels, which are kept, and refuses closed ports and other addresses', async () => {
    const service = await startService({ EGRESS_PROXY: urlWith(PASSWORD), DELIVERY_TIMEOUT_MS: '20000' });
    const testOf = async (url: string) => {
      const { id } = await subscribe(service.api, { url }, ['job.completed']);
      const { status, error } = await dataOf(service.api.testWebhook(id));
      return error?.code ?? status;
    };
    try {
      const hook = receiver.hook();
      const webhook = await subscribe(service.api, hook, ['job.started']);
      for (let round = 0; round < 3; round++) {
        const event = await publish(service.api, 'job.started');
        expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([{ status: 'succeeded' }]);
      }
      const elsewhere = await startReceiver({ host: '127.0.0.3' });
      const closed = `127.0.0.1:${await freePort()}`;
      expect(await testOf(`http://${closed}/`)).toBe('unreachable');
      expect(await testOf(`https://127.0.0.3:${elsewhere.port}/`)).toBe('unreachable');
      expect(await testOf(`http://127.0.0.2:${squid.port}/`)).toBe('destination_blocked');
      expect(elsewhere.connections).toEqual([]);
      const tunnel = `${new URL(hook.url).host} 200`;
      await waitFor(async () => (await squid.requests()).includes(tunnel), { what: 'the end of the tunnel' });
      const seen = await squid.requests();
      expect(seen.filter((line) => line === tunnel)).toHaveLength(1);
      expect(seen).toEqual(expect.arrayContaining([`${closed} 503`, `127.0.0.3:${elsewhere.port} 403`]));
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });

  it('fails for other credentials', async () => {
    const service = await startService({ EGRESS_PROXY: urlWith('wrong') });
    try {
      const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
      expect(await dataOf(service.api.testWebhook(id))).toMatchObject({ error: { code: 'proxy_failed' } });
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });
});
