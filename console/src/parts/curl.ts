import type { DeliveryDetail } from '../api/types';

type Sent = NonNullable<DeliveryDetail['request']>;

const LARGEST = 100_000;
const END = 'END_OF_BODY';

/** A shell's word for exactly this text. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command that sends the same bytes again. What is too long for a word of a shell comes from its input. */
export function curlOf(url: string, { headers, body }: Sent): string {
  const parts = linesOf(headers).flatMap(([name, value]) =>
    ['content-length', 'host'].includes(name) ? [] : [`-H ${quoted(`${name}: ${value}`)}`],
  );
  const command = ['curl --globoff -X POST', quoted(url), ...parts];
  const bytes = new TextEncoder().encode(body).length;
  if (bytes <= LARGEST) return [...command, `--data-raw ${quoted(body)}`].join(' \\\n  ');
  // A document of the shell ends with a line of its own, which is not a part of the body.
  const input = [`head -c ${bytes} <<'${END}' |`, ...command, '--data-binary @-'].join(' \\\n  ');
  return `${input}\n${body}\n${END}\n`;
}

/** The request as it went over the wire. */
export function rawOf(url: string, { headers, body }: Sent): string {
  const { pathname, search } = new URL(url);
  const lines = linesOf(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname}${search} HTTP/1.1`, ...lines, '', body].join('\r\n');
}

const LOCAL_URL = 'http://localhost:4000';

/** The address on one's own machine that stands for this one: the same path, and the root for the null of a pull webhook. */
export function localUrlOf(url: string | null): string {
  const { pathname, search } = new URL(url ?? LOCAL_URL);
  return `${LOCAL_URL}${pathname}${search}`;
}

/** Names that are no names of headers are left out: they could end a word of the shell. */
const linesOf = (headers: Sent['headers']): [string, string][] =>
  Object.entries(headers).flatMap(([name, values]) =>
    /^[a-z0-9-]+$/.test(name) ? [values].flat().map((value): [string, string] => [name, String(value)]) : [],
  );
