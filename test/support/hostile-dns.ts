import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** Addresses of the queried type, an error of the server, or no response at all. */
export type DnsAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence';

/** @param nth counts the queries of this type for this name, from 1 */
export type DnsScript = (name: string, type: 'A' | 'AAAA', nth: number) => DnsAnswer;

export interface HostileDns {
  /** As in DNS_SERVERS. */
  readonly server: string;
  /** The queries in order, such as `A example.test`. */
  readonly questions: readonly string[];
}

const RESPONSE_CODES = { SERVFAIL: 2, NXDOMAIN: 3 };
const TYPES = { 1: 'A', 2: 'NS', 28: 'AAAA' } as const;
type Type = (typeof TYPES)[keyof typeof TYPES];

/** How a server answers for the root of DNS: with its name servers, or not. It may change. */
export type RootAnswer = () => 'servers' | 'SERVFAIL' | 'silence';

/** Name servers of one test file (RFC 1035, as much of it as one question needs); all are stopped after it. */
export function useHostileDns(): (script: DnsScript, root?: RootAnswer) => Promise<HostileDns> {
  const sockets: Socket[] = [];
  afterAll(() => sockets.forEach((socket) => socket.close()));
  return async (script, root = () => 'servers') => {
    const questions: string[] = [];
    const socket = createSocket('udp4');
    sockets.push(socket);
    socket.on('message', (query: Buffer, from: RemoteInfo) => {
      const { name, type, end } = readQuestion(query);
      const asked = `${type} ${name}`;
      questions.push(asked);
      const nth = questions.filter((question) => question === asked).length;
      const answer = type === 'NS' ? rootAnswer(root()) : script(name, type, nth);
      if (answer !== 'silence') socket.send(reply(query.subarray(0, end), type, answer), from.port, from.address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return { server: `127.0.0.1:${socket.address().port}`, questions };
  };
}

const rootAnswer = (answer: ReturnType<RootAnswer>): DnsAnswer => (answer === 'servers' ? ['a'] : answer);

function readQuestion(query: Buffer): { name: string; type: Type; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES[query.readUInt16BE(at + 1) as keyof typeof TYPES];
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

function reply(question: Buffer, type: Type, answer: Exclude<DnsAnswer, 'silence'>): Buffer {
  const addresses = typeof answer === 'string' ? [] : answer;
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? RESPONSE_CODES[answer] : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...addresses.map((address) => record(type, address))]);
}

function record(type: Type, address: string): Buffer {
  const data = dataOf(type, address);
  const fields = Buffer.alloc(12);
  fields.writeUInt16BE(0xc00c, 0); // the name of the question
  fields.writeUInt16BE({ A: 1, NS: 2, AAAA: 28 }[type], 2);
  fields.writeUInt16BE(1, 4);
  fields.writeUInt32BE(0, 6); // never to be kept
  fields.writeUInt16BE(data.length, 10);
  return Buffer.concat([fields, data]);
}

/** @param value an address, or the name of a server, of one label */
function dataOf(type: Type, value: string): Buffer {
  if (type === 'NS') return Buffer.from(`${String.fromCharCode(value.length)}${value}\0`);
  return type === 'A' ? Buffer.from(value.split('.').map(Number)) : ipv6Bytes(value);
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const zeros = new Array<string>(8 - groups(head).length - groups(tail).length).fill('0');
  const all = address.includes('::') ? [...groups(head), ...zeros, ...groups(tail)] : groups(head);
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
