import type { z } from 'zod';
import { Config } from './config';
import { parseQueueName } from './queue-name';
import { hasOpenPassword, list } from './setting-shapes';
import { schema, type Settings, variableOf } from './settings-schema';

/** All problems of the environment, one message each. No message contains a secret or a URL. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The service cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

export interface SettingFiles {
  /** The content of each file by the name of its setting; null where there is a problem. */
  values: Readonly<Record<string, string | null>>;
  /** One message each, without the content of a file. */
  problems: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;
/** The texts of the settings that are set, by their names in the schema; null for a file that cannot be used. */
type Given = Partial<Record<keyof Settings, string | null>>;

const LOOPBACK_HOST = /^(localhost|::1|127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;
const LOOPBACK_NETWORKS = '127.0.0.0/8,::1/128';

const NO_FILES: SettingFiles = { values: {}, problems: [] };

/**
 * Parses the settings of an environment. An empty value means "not set"; an empty `ALLOWED_NETWORKS` means "none".
 * A setting in a file counts as set, even if its file cannot be used.
 * Without `DATABASE_URL`, the secrets key and the first token may be missing: the embedded store generates them.
 * @throws SettingsError with every problem at once
 */
export function parseConfig(environment: Environment, { values, problems: ofFiles } = NO_FILES): Config {
  const textOf = (variable: string) => (variable in values ? values[variable] : environment[variable]);
  const given = Object.fromEntries(
    Object.keys(schema.shape)
      .map((name) => [name, textOf(variableOf(name))] as const)
      .filter(([name, text]) => text !== undefined && (text !== '' || name === 'allowedNetworks')),
  ) as Given;
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(given).filter(([, text]) => text !== null)));
  const problems = [...ofFiles, ...combinationProblems(given), ...(parsed.error?.issues ?? []).map(messageOf)];
  if (!parsed.success || problems.length > 0) throw new SettingsError(problems);
  return toConfig(parsed.data);
}

function messageOf(issue: z.core.$ZodIssue): string {
  return `${variableOf(issue.path.join('.'))} ${issue.message}.`;
}

const JWT_SETTINGS = ['authJwksUrl', 'authIssuer', 'authAudience'] as const;
const JWT_VARIABLES = JWT_SETTINGS.map(variableOf).join(', ');

function combinationProblems(given: Given): string[] {
  const missing = JWT_SETTINGS.filter((name) => given[name] === undefined);
  const halfSet = missing.length > 0 && missing.length < JWT_SETTINGS.length;
  return [
    ...storeProblems(given),
    ...(halfSet ? missing.map((name) => `${variableOf(name)} is required: ${JWT_VARIABLES} go together.`) : []),
    ...queueProblems(given),
    ...portProblems(given),
    ...proxyProblems(given),
    ...passwordProblems(given),
  ];
}

function storeProblems(given: Given): string[] {
  if (given.databaseUrl !== undefined) {
    return given.secretsKey === undefined ? ['SECRETS_KEY is required together with DATABASE_URL.'] : [];
  }
  return given.role === undefined || given.role === 'all'
    ? []
    : ['ROLE must be all without DATABASE_URL: the embedded PostgreSQL serves one process.'];
}

/** Only a monitored queue can be an automation queue. A name that only `AUTOMATION_QUEUES` holds is a mistake. */
function queueProblems(given: Given): string[] {
  const monitored = list(given.monitoredQueues ?? '');
  const unknown = list(given.automationQueues ?? '').filter((name) => !monitored.includes(name));
  // A text that is no queue name at all has a message of its own.
  return unknown.every((name) => parseQueueName(name) === null)
    ? []
    : ['AUTOMATION_QUEUES must only name queues that MONITORED_QUEUES names in the same way.'];
}

function portProblems({ port = '3000', metricsPort }: Given): string[] {
  return metricsPort !== undefined && Number(metricsPort) === Number(port)
    ? ['METRICS_PORT must be another port than PORT.']
    : [];
}

function proxyProblems({ egressProxy, egressProxyResolves }: Given): string[] {
  return egressProxyResolves === 'true' && egressProxy === undefined
    ? ['EGRESS_PROXY is required: EGRESS_PROXY_RESOLVES is true.']
    : [];
}

const WITH_PASSWORD = ['databaseUrl', 'redisUrl', 'monitoredQueuesRedisUrl', 'egressProxy'] as const;

function passwordProblems(given: Given): string[] {
  return WITH_PASSWORD.filter((name) => given[name]?.split(',').some(hasOpenPassword)).map(
    (name) => `${variableOf(name)} must have the characters @ / ? # of its password written as %40 %2F %3F %23.`,
  );
}

function toConfig({ secretsKey, automationQueues, local, ...settings }: Settings): Config {
  const isEmbedded = settings.databaseUrl === null;
  const host = settings.host ?? (isEmbedded ? '127.0.0.1' : '0.0.0.0');
  const isLocal = isEmbedded && (local ?? LOOPBACK_HOST.test(host));
  return new Config({
    ...settings,
    host,
    isLocal,
    secretsKeys: secretsKey,
    allowedNetworks: settings.allowedNetworks ?? (isLocal ? list(LOOPBACK_NETWORKS) : []),
    monitoredQueues: settings.monitoredQueues.map((queue) => ({
      ...queue,
      isAutomation: automationQueues.some(({ prefix, name }) => prefix === queue.prefix && name === queue.name),
    })),
  });
}
