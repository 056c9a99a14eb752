import { exchange } from '../../support/api';

/** What one scrape showed. */
export interface Scrape {
  /** Every metric that was announced, and the series of a histogram. */
  names: Set<string>;
  /** Every value by its series as it was written, such as `webhooks_ready{check="queue"}`. */
  values: Map<string, number>;
  text: string;
}

/** Scrapes as Prometheus does, and is as strict about the text. */
export async function scrape(port: number): Promise<Scrape> {
  const { status, headers, text } = await exchange(`http://127.0.0.1:${port}`, 'GET', '/metrics');
  if (status !== 200) throw new Error(`The scrape was answered with ${status}.`);
  if (!/^text\/plain; version=0\.0\.4/.test(headers['content-type'] ?? '')) throw new Error('That is no scrape.');
  const scraped: Scrape = { names: new Set(), values: new Map(), text };
  for (const line of text.split('\n').filter((one) => one !== '')) readLine(line, scraped);
  return scraped;
}

/** The sum over all series of a metric; undefined when it has none. */
export function sumOf({ values }: Scrape, name: string): number | undefined {
  const found = [...values].filter(([series]) => series === name || series.startsWith(`${name}{`));
  return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + value, 0);
}

const NO_NAMES = ['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan'];

/** The metrics that an expression of PromQL asks for. */
export function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  const names = [...bare.matchAll(/(?<!\w)[a-zA-Z_:][\w:]*\b(?!\s*\()/g)].map(([name]) => name);
  return names.filter((name) => !NO_NAMES.includes(name.toLowerCase()));
}

/** What Prometheus takes for a number; prom-client writes NaN where it has measured nothing. */
function isValue(text: string | undefined): boolean {
  return /^nan$/i.test(text ?? '') || !Number.isNaN(Number(text));
}

function readLine(line: string, { names, values }: Scrape): void {
  const [, announced, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
  if (announced) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of suffixes) names.add(announced + suffix);
  }
  if (line.startsWith('# ')) return;
  const [, series, value] = /^([a-z_][\w]*(?:\{.*\})?) (\S+)$/i.exec(line) ?? [];
  if (series === undefined || !isValue(value)) throw new Error(`Not in Prometheus' format: ${line}`);
  values.set(series, Number(value));
}
