import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettingFiles } from '../../../src/infrastructure/config/environment.setup';
import { schema, variableOf } from '../../../src/infrastructure/config/settings-schema';

export const CHART = 'deploy/helm';
/** The name of the release, and so the beginning of all names. */
export const NAME = 'webhook-notification-service';
/** A helm that `go install` has built would assume 1.20. */
export const KUBERNETES = '--kube-version=1.31.0';
/** Where the secrets are in a container. */
export const SECRETS_FOLDER = '/etc/webhooks/secrets';

const VARIABLES = Object.keys(schema.shape).map(variableOf);
/** The settings that contain a password, a key or a token. */
export const SECRETS = VARIABLES.filter(
  (variable) => readSettingFiles({ [`${variable}_FILE`]: '.' }).problems.length > 0,
);
/** The chart sets `ROLE`, and has no embedded database. */
export const PLAIN = VARIABLES.filter((variable) => !['ROLE', 'LOCAL', 'DATA_DIR', ...SECRETS].includes(variable));

export const defaultOf = (variable: string): unknown =>
  Object.entries(schema.shape)
    .find(([name]) => variableOf(name) === variable)?.[1]
    .safeParse(undefined).data;

/** All settings, as YAML gives it to the chart. */
export const settings: Record<string, unknown> = {
  ...Object.fromEntries(
    PLAIN.map((variable) => [
      variable,
      ['number', 'boolean'].includes(typeof defaultOf(variable)) ? defaultOf(variable) : 'text',
    ]),
  ),
  PORT: 8080,
  METRICS_PORT: 9000,
  MAX_PENDING_PER_WEBHOOK: 10_000_000,
  DELIVERY_TIMEOUT_MS: '20001',
  DELIVERY_CONCURRENCY: 1000,
  ALLOWED_NETWORKS: '',
  CONSOLE_NAME: '$$ "Pay" & <Go>: $(PORT) \\ €',
};

const peer = (namespace: string) => [
  { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
];
const egress = [
  { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }] },
  { to: peer('kube-system'), ports: [{ port: 53, protocol: 'UDP' }] },
];
const autoscaling = { enabled: true, minReplicas: 3, maxReplicas: 9, cpuPercent: 60 };
const resources = { requests: { cpu: '1', memory: '512Mi' }, limits: { memory: '1Gi' } };

/** Every value of the chart. */
export const EVERY_VALUE = {
  global: {},
  image: {
    repository: 'registry.example/wns',
    tag: '0.3.1',
    digest: `sha256:${'0a'.repeat(32)}`,
    pullPolicy: 'Always',
  },
  imagePullSecrets: [{ name: 'registry' }],
  settings,
  secrets: Object.fromEntries(SECRETS.map((variable) => [variable, { name: 'passwords', key: `its-${variable}` }])),
  api: { replicas: 3, resources, autoscaling },
  worker: { replicas: 3, resources, autoscaling: { ...autoscaling, slotsPercent: 40 } },
  migration: { enabled: true },
  service: { type: 'LoadBalancer', port: 8443, annotations: { 'example.com/lb': 'internal' } },
  ingress: {
    enabled: true,
    className: 'nginx',
    annotations: { 'example.com/issuer': 'ca' },
    host: 'hooks.example.com',
    tlsSecret: 'hooks-tls',
  },
  networkPolicy: { enabled: true, apiFrom: peer('ingress'), metricsFrom: peer('observability'), egress },
  serviceMonitor: { enabled: true, interval: '15s', labels: { release: 'prometheus' } },
  podAnnotations: { 'example.com/team': 'shop' },
  podLabels: { team: 'shop' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca/ca.pem' }],
  extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
  extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
};

export const run = (command: string, ...options: string[]) => spawnSync(command, options, { encoding: 'utf8' });

/** What `helm template` prints for these values, which reach it as a file. */
export function template(values: unknown, ...options: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'helm-'));
  try {
    writeFileSync(join(folder, 'values.yaml'), JSON.stringify(values));
    return run('helm', 'template', NAME, CHART, KUBERNETES, '-f', join(folder, 'values.yaml'), ...options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function render(values: unknown, ...options: string[]): string {
  const { stdout, stderr, status } = template(values, ...options);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout;
}

/** The rendered objects by kind and name, such as `Deployment/webhook-notification-service-api`. */
export function objects(rendered: string): Record<string, string> {
  const found = rendered.split(/^---$/m).filter((text) => /^kind: /m.test(text));
  return Object.fromEntries(
    found.map((text) => [`${/^kind: (.+)$/m.exec(text)?.[1]}/${/^ {2}name: (.+)$/m.exec(text)?.[1]}`, text]),
  );
}

/** The variables of a pod as its process reads them. */
export const environmentOf = (pod: string): Record<string, string> =>
  Object.fromEntries(
    [...pod.matchAll(/- name: ([A-Z_]+)\n +value: (.+)/g)].map(([, name, text = '']) => [
      name,
      (text.startsWith('"') ? (JSON.parse(text) as string) : text).replaceAll('$$', '$'),
    ]),
  );
