import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exchange } from '../../support/api';
import { Chronicle } from '../../support/chronicle';
import { cloneDatabase } from '../../support/postgres';
import { freePort, runCommand } from '../../support/service';
import { ServiceProcess } from '../../support/service-process';
import { waitFor } from '../../support/wait-for';
import {
  CHART,
  defaultOf,
  environmentOf,
  EVERY_VALUE,
  KUBERNETES,
  NAME,
  objects,
  PLAIN,
  render,
  run,
  SECRETS,
  SECRETS_FOLDER,
  settings,
  template,
} from '../stage/chart';
import { describeWhereInstalled } from '../../support/programs';

const MANIFESTS = `deploy/kubernetes/${NAME}.yaml`;
const KUBERNETES_VERSIONS = ['1.27.0', '1.31.0', '1.37.0'];
/** Checks of checkov that the chart fails on purpose. */
const SKIPPED_CHECKS = [
  'CKV_K8S_11', // A limit of CPU slows a process although its node is idle.
  'CKV_K8S_15', // Tags of releases are not moved, and a digest can be given: there is nothing to pull again.
  'CKV_K8S_21', // The namespace is that of the command.
  'CKV_K8S_40', // The user of the image is 1000.
  'CKV_K8S_43', // The digest is in the values of an installation.
];

interface Schema {
  properties?: Record<string, Schema>;
}
const VALUES = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;

const pathsOf = ({ properties = {} }: Schema, path = ''): string[] =>
  Object.entries(properties).flatMap(([name, of]) => [`${path}.${name}`, ...pathsOf(of, `${path}.${name}`)]);
const isGiven = (path: string): boolean =>
  path
    .split('.')
    .slice(1)
    .reduce<unknown>((of, name) => (of as Record<string, unknown> | undefined)?.[name], EVERY_VALUE) !== undefined;

const textsIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [String(value)];

const objectOf = (rendered: string, name: string): string => objects(rendered)[name] ?? '';
const deploymentOf = (role: string, values: unknown): string => objectOf(render(values), `Deployment/${NAME}-${role}`);

/** The probes of a pod, with their paths. */
const probesOf = (pod: string): [probe: string, path: string][] =>
  [...pod.matchAll(/(\w+)Probe:[^]*?path: (\S+)/g)].map(([, probe = '', path = '']) => [probe, path]);

describe('The chart', () => {
  it('takes every setting: secrets by reference, all others but its own by value', () => {
    expect(SECRETS.length).toBeGreaterThan(4);
    const { properties = {} } = VALUES;
    expect(Object.keys(properties.settings?.properties ?? {})).toEqual(PLAIN);
    expect(Object.keys(properties.secrets?.properties ?? {}).sort()).toEqual([...SECRETS].sort());
  });

  it('has the version of the service', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const chart = readFileSync(join(CHART, 'Chart.yaml'), 'utf8');
    expect(chart).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
    expect(readFileSync(MANIFESTS, 'utf8')).toContain(`image: ${NAME}:${version}\n`);
  });

  it('is tested with every value', () => {
    expect(pathsOf(VALUES).filter((path) => !isGiven(path))).toEqual([]);
  });
});

describeWhereInstalled('helm', 'The chart, by helm', () => {
  it('passes helm lint', () => {
    const { stdout, status } = run('helm', 'lint', '--strict', KUBERNETES, CHART);
    expect({ stdout, status }).toEqual({ stdout: expect.stringContaining('0 chart(s) failed'), status: 0 });
  });

  it('is what the plain manifests are rendered from', () => {
    expect(readFileSync(MANIFESTS, 'utf8')).toBe(render({}, '--no-hooks'));
  });

  it('refuses unknown settings and secrets given by value', () => {
    for (const name of ['LOG_LEVLE', 'ROLE', ...SECRETS]) {
      const { stderr, status } = template({ settings: { [name]: 'x' } });
      expect({ name, stderr, status }).toEqual({ name, stderr: expect.stringMatching(`\\b${name}\\b`), status: 1 });
    }
    expect(template({ wroker: {} }).status).toBe(1);
    expect(template({ secrets: { DATABASE_URL: null } }).stderr).toContain('DATABASE_URL');
    expect(template({ settings: { METRICS_PORT: null }, serviceMonitor: { enabled: true } }).stderr).toContain(
      'serviceMonitor.enabled requires settings.METRICS_PORT',
    );
  });

  it('hands settings to both roles and to the migration as they are given, and secrets as files', () => {
    const rendered = objects(render(EVERY_VALUE));
    const files = Object.fromEntries(SECRETS.map((name) => [`${name}_FILE`, `${SECRETS_FOLDER}/${name}`]));
    const texts = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
    const shared = { ...files, ...texts, NODE_EXTRA_CA_CERTS: '/etc/ca/ca.pem' };
    for (const role of ['api', 'worker'])
      expect(environmentOf(rendered[`Deployment/${NAME}-${role}`] ?? '')).toEqual({ ...shared, ROLE: role });
    expect(environmentOf(rendered[`Job/${NAME}-migration`] ?? '')).toEqual(shared);
    for (const variable of SECRETS)
      expect(rendered[`Deployment/${NAME}-api`]).toMatch(
        new RegExp(`name: passwords\\n +items:\\n +- key: its-${variable}\\n +path: ${variable}\\n`),
      );
    expect(Object.keys(rendered).filter((name) => /^(ConfigMap|Secret)\//.test(name))).toEqual([]);
  });

  it('uses every other value', () => {
    // A digest takes precedence over a tag.
    const { settings: _, image, ...others } = EVERY_VALUE;
    const rendered = render(EVERY_VALUE);
    expect(textsIn(others).filter((text) => !rendered.includes(text))).toEqual([]);
    expect(rendered).toContain(`image: ${image.repository}@${image.digest}\n`);
    expect(render({ image: { tag: '0.3.1-rc.1' } })).toContain(`image: ${NAME}:0.3.1-rc.1\n`);
  });

  it.each([
    [undefined, (Number(defaultOf('DELIVERY_TIMEOUT_MS')) + 15_000) / 1000],
    [60_000, 75],
    ['20001', 36],
  ])('gives pods with a DELIVERY_TIMEOUT_MS of %p %p s to end', (timeoutMs, seconds) => {
    const values = { settings: { DELIVERY_TIMEOUT_MS: timeoutMs } };
    for (const role of ['api', 'worker'])
      expect(deploymentOf(role, values)).toContain(`terminationGracePeriodSeconds: ${seconds}\n`);
  });

  it('restarts no pod and closes no API because a store is unavailable', () => {
    const [startup, liveness] = [
      ['startup', '/health/live'],
      ['liveness', '/health/live'],
    ];
    expect(probesOf(deploymentOf('api', {}))).toEqual([startup, liveness, ['readiness', '/health/live']]);
    expect(probesOf(deploymentOf('worker', {}))).toEqual([startup, liveness, ['readiness', '/health/ready']]);
  });

  it('gives the pods an environment with which the service migrates, starts, and answers probes and Prometheus', async () => {
    const [database, metricsPort, folder] = [
      await cloneDatabase(),
      await freePort(),
      mkdtempSync(join(tmpdir(), 'pod-')),
    ];
    const loopback = { HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1', METRICS_PORT: metricsPort };
    const pods = objects(render({ settings: loopback }));
    const settingsOf = (pod: string) =>
      Object.fromEntries(
        Object.entries(environmentOf(pod)).map(([name, text]) => [name, text.replace(SECRETS_FOLDER, folder)]),
      );
    const statusOf = async (url: string, path: string) => (await exchange(url, 'GET', path)).status;
    try {
      writeFileSync(join(folder, 'DATABASE_URL'), database.url);
      writeFileSync(join(folder, 'SECRETS_KEY'), Buffer.alloc(32, 7).toString('base64'));
      expect(await runCommand(['migrate'], settingsOf(pods[`Job/${NAME}-migration`] ?? ''))).toMatchObject({
        exitCode: 0,
      });
      for (const role of ['api', 'worker']) {
        const pod = pods[`Deployment/${NAME}-${role}`] ?? '';
        const service = await ServiceProcess.create(role, settingsOf(pod), new Chronicle());
        await service.start();
        for (const [probe, path] of probesOf(pod))
          await waitFor(async () => (await statusOf(service.url, path)) === 200, { what: `${probe} of ${role}` });
        expect(await statusOf(`http://127.0.0.1:${metricsPort}`, '/metrics')).toBe(200);
        expect(await statusOf(service.url, '/api/me')).toBe(role === 'api' ? 401 : 404);
        expect((await service.end()).exitCode).toBe(0);
      }
    } finally {
      await database.drop();
      rmSync(folder, { recursive: true });
    }
  });

  it('lets in the API, and metrics for monitoring alone, and lets everything out', () => {
    const rendered = render({});
    const rulesOf = (name: string) => objectOf(rendered, `NetworkPolicy/${name}`).split('policyTypes: ')[1];
    expect(rulesOf(NAME)).toBe(
      `[Ingress, Egress]
  ingress:
    - from:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: monitoring
      ports:
        - port: metrics
  egress:
    - {}
`,
    );
    expect(rulesOf(`${NAME}-api`)).toBe('[Ingress]\n  ingress:\n    - ports:\n        - port: http\n');
    expect(render({ settings: { METRICS_PORT: null } })).not.toContain('metrics\n');
  });

  it('scales workers by CPU and slots, and leaves replicas to the autoscaler', () => {
    const rendered = render(EVERY_VALUE);
    expect(rendered).not.toContain('replicas:');
    expect(objectOf(rendered, `HorizontalPodAutoscaler/${NAME}-worker`)).toContain('averageValue: "400"');
    const ofDefault = { worker: { autoscaling: { enabled: true, slotsPercent: 50 } } };
    expect(objectOf(render(ofDefault), `HorizontalPodAutoscaler/${NAME}-worker`)).toContain(
      `averageValue: "${Number(defaultOf('DELIVERY_CONCURRENCY')) / 2}"`,
    );
  });

  it('migrates before an upgrade, and only then', () => {
    const migration = objectOf(render({}), `Job/${NAME}-migration`);
    expect(migration).toContain('helm.sh/hook: pre-upgrade\n');
    expect(migration).toContain('command: [webhooks, migrate]\n');
    expect(render({ migration: { enabled: false } })).not.toContain('kind: Job');
  });

  describeWhereInstalled('kubernetes-validate', 'valid for Kubernetes, by kubernetes-validate', () => {
    it.each(KUBERNETES_VERSIONS)('%s with every value, and with none', (version) => {
      inFolder((folder) => {
        const { stdout, stderr, status } = run('kubernetes-validate', '--strict', '-k', version, ...filesIn(folder));
        expect({ output: status === 0 ? '' : stdout + stderr, status }).toEqual({ output: '', status: 0 });
      });
    });
  });

  describeWhereInstalled('checkov', 'secure, by checkov', () => {
    it('with every value, and with none', () => {
      inFolder((folder) => {
        const options = ['--framework=kubernetes', '--skip-download', '--quiet', '--compact', '--output=json'];
        const { stdout } = run('checkov', `--directory=${folder}`, ...options, `--skip-check=${SKIPPED_CHECKS}`);
        const { results, summary } = JSON.parse(stdout) as Report;
        expect(
          results.failed_checks.map(({ check_id, check_name, resource }) => [check_id, check_name, resource]),
        ).toEqual([]);
        expect(summary.passed).toBeGreaterThan(100);
      });
    });
  });
});

interface Report {
  results: { failed_checks: { check_id: string; check_name: string; resource: string }[] };
  summary: { passed: number };
}

const filesIn = (folder: string): string[] => ['every-value', 'none'].map((name) => join(folder, `${name}.yaml`));

/** Renders the chart into two files. A ServiceMonitor is no part of Kubernetes. */
function inFolder(test: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'rendered-'));
  try {
    const all = [EVERY_VALUE, {}].map((values) => objects(render(values)));
    for (const [i, file] of filesIn(folder).entries()) {
      const known = Object.entries(all[i] ?? {}).filter(([name]) => !name.startsWith('ServiceMonitor/'));
      writeFileSync(file, known.map(([, text]) => text).join('---'));
    }
    test(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
