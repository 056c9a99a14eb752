import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeWhereInstalled } from '../../support/programs';
import { useServiceProcess } from '../../support/service';

const CONFIG = resolve('test/contract/stage/schemathesis.toml');
/** To repeat a failed run set SEED to the seed that it printed. */
const SEED = process.env.SEED ?? String(randomInt(2 ** 31));
const isLong = process.env.LONG === '1';
/** Cases of each operation in each phase. */
const EXAMPLES = isLong ? '100' : '8';

jest.setTimeout(600_000);

describeWhereInstalled('schemathesis', `Requests that schemathesis makes of the document (SEED=${SEED})`, () => {
  const service = useServiceProcess({
    MAX_RETRIES: '0',
    DELIVERY_TIMEOUT_MS: '500',
    EXTRA_EVENT_TYPES: 'order.paid',
    // Nobody is asked for a name: nothing leaves this machine.
    DNS_SERVERS: '127.0.0.1:1',
    AUTH_FAILURES_PER_MINUTE: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    PUBLISH_LIMIT_PER_MINUTE: '0',
    MAX_WEBHOOKS_PER_USER: '10000',
    LOG_LEVEL: 'warn',
  });

  it('are answered as it says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));
    const options = ['--checks=all', '--continue-on-failure', `--seed=${SEED}`, `--max-examples=${EXAMPLES}`];
    const child = spawn(
      'schemathesis',
      [`--config-file=${CONFIG}`, 'run', `${service.url}/docs/openapi.json`, ...options],
      {
        cwd: folder,
        env: { ...process.env, TOKEN: service.token, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let report = '';
    child.stdout.on('data', (text: Buffer) => (report += text.toString()));
    const [code] = (await once(child, 'close')) as [number];
    rmSync(folder, { recursive: true });
    expect({ code, report: code === 0 ? '' : report }).toEqual({ code: 0, report: '' });
    expect(service.logs().match(/^.*"level":[56]0.*$/gm) ?? []).toEqual([]);
  });
});
