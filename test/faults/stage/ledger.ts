import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { cryptoSignature } from '../../support/signatures';

/** How an address of the ledger answers: 200 at once, unless said otherwise. */
export interface Script {
  /** Attempts up to this number are answered with 500. */
  failsUntil?: number;
  /** How long each answer takes. */
  delayMs?: number;
}

/** One address of the ledger. */
export interface LedgerAddress {
  readonly name: string;
  readonly url: string;
  readonly secret: string;
  readonly script: Script;
}

/** One request as it came in, and what became of it. */
export interface LedgerEntry {
  /** Name of the address. */
  to: string;
  eventId: string;
  deliveryId: string;
  attempt: number;
  trigger: string;
  receivedAt: number;
  isGenuine: boolean;
  /** When the answer was on its way; null while there is none, or when the caller has gone before. */
  answeredAt: number | null;
  status: number | null;
}

/** Whether header and body name the same subject, or none. */
function subjectsAgree({ 'x-service-subject': header }: IncomingHttpHeaders, body: Buffer): boolean {
  const { subject } = JSON.parse(body.toString()) as { subject?: string };
  return (header === undefined ? undefined : decodeURIComponent(String(header))) === subject;
}

/** A receiver that writes down every request before it answers. */
export class Ledger {
  readonly entries: LedgerEntry[] = [];
  private readonly addresses = new Map<string, LedgerAddress>();
  private readonly pairs = new Set<string>();
  private held: Promise<void> | null = null;
  private release: () => void = () => undefined;

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Ledger> {
    const server = createServer((request, response) => {
      void ledger.serve(request, response).catch(() => response.destroy());
    });
    const ledger = new Ledger(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return ledger;
  }

  address(name: string, script: Script = {}): LedgerAddress {
    const { port } = this.server.address() as AddressInfo;
    const path = `/${name}`;
    const secret = randomBytes(16).toString('hex');
    const address = { name, url: `http://127.0.0.1:${port}${path}`, secret, script };
    this.addresses.set(path, address);
    return address;
  }

  /** From now on nobody gets an answer, until the function that is handed back is called. */
  hold(): () => void {
    this.held = new Promise((resolve) => (this.release = resolve));
    return () => this.answerAll();
  }

  /** Nobody waits any more. */
  answerAll(): void {
    this.held = null;
    this.release();
  }

  /** Requests that wait for their answer. */
  open(): LedgerEntry[] {
    return this.entries.slice(-5000).filter(({ status }) => status === null);
  }

  /** Whether the event has come to the address: `<name of the address> <id of the event>`. */
  has(pair: string): boolean {
    return this.pairs.has(pair);
  }

  /** How many different pairs have come. */
  get received(): number {
    return this.pairs.size;
  }

  /** The first request that came in after this instant. */
  firstAfter(instant: number): LedgerEntry | undefined {
    let i = this.entries.length;
    while (i > 0 && (this.entries[i - 1]?.receivedAt ?? 0) > instant) i -= 1;
    return this.entries[i];
  }

  async close(): Promise<void> {
    this.answerAll();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = this.addresses.get(request.url ?? '');
    if (!address) return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const entry = this.write(address, request, Buffer.concat(chunks));
    if (address.script.delayMs) await pause(address.script.delayMs);
    await this.held;
    response.once('finish', () => (entry.answeredAt = Date.now()));
    entry.status = entry.attempt <= (address.script.failsUntil ?? 0) ? 500 : 200;
    response.writeHead(entry.status).end();
  }

  private write(address: LedgerAddress, { headers }: IncomingMessage, body: Buffer): LedgerEntry {
    const entry: LedgerEntry = {
      to: address.name,
      eventId: String(headers['webhook-id']),
      deliveryId: String(headers['x-service-delivery']),
      attempt: Number(headers['x-service-attempt']),
      trigger: String(headers['x-service-trigger']),
      receivedAt: Date.now(),
      isGenuine:
        headers['x-service-signature'] === cryptoSignature(body, address.secret) && subjectsAgree(headers, body),
      answeredAt: null,
      status: null,
    };
    this.entries.push(entry);
    this.pairs.add(`${entry.to} ${entry.eventId}`);
    return entry;
  }
}
