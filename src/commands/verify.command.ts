import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { explainSignature, type ExplainOptions } from 'webhook-notification';
import { readWebhookSecret } from '../infrastructure/config/environment.setup';
import { Misunderstood } from './misunderstood';
import { parseHeaders, parseSavedRequest, type SavedRequest } from './saved-request';

const STDIN = 0;
interface Wanted {
  request: SavedRequest;
  secret: string;
  options: ExplainOptions;
}

function readArguments(args: string[]): Wanted {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    options: { headers: text, body: text, 'secret-file': text, tolerance: text, computed: text },
    allowPositionals: true,
  });
  const { headers, body, tolerance = '300', computed } = values;
  if (positionals.length > 1) throw new Misunderstood('Name one file only.');
  if ((headers === undefined) !== (body === undefined)) throw new Misunderstood('--headers and --body go together.');
  if (!/^\d{1,12}$/.test(tolerance)) throw new Misunderstood('--tolerance must be a whole number of seconds.');
  const secretFile = values['secret-file'];
  // Editors end a file with a line break, which no secret contains.
  const secret =
    secretFile === undefined ? readWebhookSecret() : readFileSync(secretFile, 'utf8').replace(/\r?\n$/, '');
  if (!secret) throw new Misunderstood('Set WEBHOOK_SECRET, or name a file with --secret-file.');
  return {
    request:
      headers !== undefined && body !== undefined
        ? { headers: parseHeaders(readFileSync(headers, 'utf8')), body: readFileSync(body) }
        : parseSavedRequest(readFileSync(positionals[0] ?? STDIN)),
    secret,
    options: { toleranceSeconds: Number(tolerance), computed },
  };
}

/**
 * Runs `webhooks verify`: prints whether a delivery is genuine, or why not.
 * @throws Error for input that it does not understand; the exit code is then 2
 */
export async function verifyDelivery(args: string[]): Promise<void> {
  try {
    const { request, secret, options } = readArguments(args);
    const { genuine, findings } = explainSignature(request.body, request.headers, secret, options);
    const verdict = genuine ? 'Genuine.' : 'Not genuine.';
    process.stdout.write(`${[verdict, ...findings.map((finding) => `  - ${finding}`)].join('\n')}\n`);
    process.exitCode = genuine ? 0 : 1;
  } catch (error) {
    process.exitCode = 2;
    throw error;
  }
}
