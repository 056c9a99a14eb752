import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schema } from '../../../src/infrastructure/config/settings-schema';
import { describeWhereInstalled } from '../../support/programs';

const UNIT = 'deploy/systemd/webhooks@.service';
const ROLES = ['api', 'worker'];

describe('The unit of systemd', () => {
  const unit = readFileSync(UNIT, 'utf8');

  it('kills no process before its drain can end', () => {
    const [, longestMs] = /\.\.(\d+)\)/.exec(String(schema.shape.deliveryTimeoutMs.meta()?.shown)) ?? [];
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(Number(longestMs) / 1000 + 7);
  });

  it('has the names of credentials that its settings name', () => {
    const loaded = [...unit.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, name]) => name);
    const named = [...unit.matchAll(/_FILE=%d\/([\w-]+)/g)].map(([, name]) => name);
    expect(loaded.length).toBe(2);
    expect(named).toEqual(loaded);
  });
});

describeWhereInstalled('systemd-analyze', 'The unit, by systemd-analyze', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'units-'));
    for (const role of ROLES) await cp(UNIT, join(folder, `webhooks-${role}@.service`));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const analyze = (...args: string[]) => execFileSync('systemd-analyze', args, { encoding: 'utf8', stdio: 'pipe' });

  it.each(ROLES)('is valid for an instance of %s', (role) => {
    // It prints what it does not understand, and may nevertheless exit with 0.
    const verify = `systemd-analyze verify --man=no '${folder}/webhooks-${role}@3000.service' 2>&1`;
    const found = execFileSync('sh', ['-c', verify], { encoding: 'utf8' }).split('\n');
    expect(found.filter((line) => line.includes('webhooks'))).toEqual([]);
  });

  it('leaves little of the machine exposed', () => {
    const report = analyze('security', '--offline=true', '--threshold=20', join(folder, 'webhooks-api@.service'));
    expect(report).toMatch(/Overall exposure level for webhooks-api@\S+: [01]\.\d/);
  });
});
