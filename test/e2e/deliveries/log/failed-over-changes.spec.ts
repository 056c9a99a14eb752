import { dataOf, errorOf, pageOf } from '../../../support/api';
import { startProxy, type TcpProxy } from '../../../support/proxy';
import { useReceiver } from '../../../support/receiver';
import { type Service, startService } from '../../../support/service';
import { waitFor } from '../../../support/wait-for';
import { ask, type PostgresPair, startPostgresPair } from '../../stage/postgres-pair';
import { publish, settledDeliveries, subscribe } from '../../stage/steps';

const XMAX = 'select pg_snapshot_xmax(pg_current_snapshot())::text::int as xmax';

describe('After a failover that lost transactions, the change feed', () => {
  const receiver = useReceiver();
  let pair: PostgresPair;
  let address: TcpProxy;
  let service: Service;

  beforeAll(async () => {
    pair = await startPostgresPair();
    address = await startProxy(pair.primary.port);
    const url = new URL(pair.primary.url);
    url.port = String(address.port);
    const database = { url: url.href, query: <Row extends object>(sql: string) => ask<Row>(url.href, sql), drop };
    service = await startService({}, database);
  });
  const drop = async () => undefined;
  afterAll(async () => {
    await service?.stop();
    await address?.stop();
    await pair?.stop();
  });

  it('rejects a cursor from before it, even when the new primary has assigned the same transaction ids', async () => {
    const webhook = await subscribe(service.api, receiver.hook(), ['job.started']);
    const deliver = async () => settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
    const xmaxOf = async ({ url }: { url: string }) => (await ask<{ xmax: number }>(url, XMAX))[0]!.xmax;
    const isReady = async () => (await fetch(`${service.url}/health/ready`)).status === 200;
    await deliver();
    const hasDelivery = async () => (await ask(pair.standby.url, 'select from webhook_service.deliveries')).length > 0;
    await waitFor(hasDelivery, { what: 'a standby that has the delivery' });
    await ask(pair.standby.url, `alter system set primary_conninfo = ''`);
    await ask(pair.standby.url, 'select pg_reload_conf()');
    const isAlone = async () => (await ask(pair.primary.url, 'select from pg_stat_replication')).length === 0;
    await waitFor(isAlone, { what: 'a primary without a standby' });
    for (let i = 0; i < 5; i++) await deliver();
    const { nextCursor } = await pageOf(service.api.listAllDeliveries({ changedAfter: 'now' }));
    const lost = await xmaxOf(pair.primary);

    await pair.primary.stop();
    await ask(pair.standby.url, 'select pg_promote()');
    expect(await xmaxOf(pair.standby)).toBeLessThan(lost);
    address.retarget(pair.standby.port);
    await address.cut();
    await address.pass();
    await waitFor(isReady, { what: 'a service on the new primary' });
    while ((await xmaxOf(pair.standby)) <= lost) await deliver();
    const rejected = await errorOf(service.api.listAllDeliveries({ changedAfter: nextCursor! }), 'cursor_invalid');
    expect(rejected).toContain('begin with changedAfter=now');
    expect(await dataOf(service.api.listAllDeliveries({ changedAfter: 'now' }))).toEqual([]);
  });
});
