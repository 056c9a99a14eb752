import { urlOf } from 'webhook-notification/cli';
import type { Command, CommandLine } from '../command-line';
import { isClearText, SERVICE_HELP } from '../service-connection';
import type { EventNames } from './event-names';
import { eventNamesOf, IMPORT_HELP, IMPORT_OPTIONS, IMPORT_USAGE, importer } from './import-command';
import { SvixApi } from './svix-api';
import { foundEndpoint, prefixOf, type SvixEndpoint } from './svix-endpoint';
import { serverOfKey } from './svix-region';
import type { Found, ImportSource } from './wanted-webhook';

const DEFAULT_TIMEOUT_S = 30;

/** Imports the endpoints of an application of Svix. */
export const importSvix: Command = {
  name: 'import svix',
  usage: `--app <id or uid> [--svix <url>] [--timeout <seconds>] ${IMPORT_USAGE}`,
  help: `Imports the endpoints of an application of Svix as webhooks of the user of WEBHOOKS_TOKEN, with their secrets, so that receivers
verify as before. An API key of Svix is in SVIX_TOKEN. --svix is the server, by default that of the key's region at Svix;
--timeout is how long it may take to answer (${DEFAULT_TIMEOUT_S}).
${IMPORT_HELP}
${SERVICE_HELP}`,
  options: { ...IMPORT_OPTIONS, app: 'string', svix: 'string', timeout: 'string' },
  async run(line) {
    const app = line.needed('app');
    const svix = new SvixApi(svixOptionsOf(line));
    const importAll = importer(line);
    const eventNames = await eventNamesOf(line);
    const appId = await svix.applicationId(app);
    return importAll(sourceOf(svix, appId, eventNames));
  },
};

function svixOptionsOf(line: CommandLine): ConstructorParameters<typeof SvixApi>[0] {
  const token = line.variable('SVIX_TOKEN', 'an API key of Svix');
  if (!/^[!-~]+$/.test(token)) return line.refuse('SVIX_TOKEN must be an API key, without blanks and line breaks.');
  const timeout = line.option('timeout') ?? String(DEFAULT_TIMEOUT_S);
  if (!/^\d{1,4}$/.test(timeout) || Number(timeout) === 0)
    return line.refuse('--timeout must be a number of seconds from 1 to 9999.');
  return { url: serverOf(line, line.option('svix') ?? serverOfKey(token)), token, timeoutMs: Number(timeout) * 1000 };
}

function serverOf(line: CommandLine, text: string): string {
  const url = urlOf(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    return line.refuse('--svix must be the URL of a server, such as https://api.eu.svix.com');
  if (isClearText(text))
    return line.refuse('SVIX_TOKEN would be sent in clear text: only a server on this machine may be http:.');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

const sourceOf = (svix: SvixApi, appId: string, eventNames: EventNames): ImportSource => ({
  prefix: prefixOf(appId),
  async *entries() {
    for await (const page of svix.endpoints(appId))
      yield page.map((endpoint) => () => foundBy(svix, appId, endpoint, eventNames));
  },
});

async function foundBy(svix: SvixApi, appId: string, endpoint: SvixEndpoint, eventNames: EventNames): Promise<Found> {
  const [secret, headers, isTransformed] = await Promise.all([
    svix.secret(appId, endpoint.id),
    svix.headers(appId, endpoint.id),
    svix.isTransformed(appId, endpoint.id),
  ]);
  if (secret === null) return { kind: 'deleted', name: `${prefixOf(appId)}${endpoint.id}` };
  return foundEndpoint(appId, endpoint, { secret, ...headers, isTransformed }, eventNames);
}
