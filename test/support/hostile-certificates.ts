import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface Identity {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

export interface Authority extends Identity {
  /** A certificate of this authority for one host name or IPv4 address. */
  issue(host: string, validity?: Validity): Identity;
}

export interface Validity {
  readonly from: Date;
  readonly until: Date;
}

const DAY_MS = 86_400_000;
const AROUND_NOW: Validity = { from: new Date(Date.now() - DAY_MS), until: new Date(Date.now() + DAY_MS) };
export const EXPIRED: Validity = { from: new Date(Date.now() - 3 * DAY_MS), until: new Date(Date.now() - DAY_MS) };

/** A certificate authority that lives as long as the test: node:crypto can read certificates but not write them. */
export function makeAuthority(name: string): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = certificate({ subject: name, issuer: name, subjectKey: keys.publicKey, issuerKey: keys.privateKey });
  return {
    cert,
    key: pemOf(keys.privateKey),
    issue: (host, validity) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const names = { subject: 'test receiver', issuer: name, host };
      return {
        cert: certificate({ ...names, subjectKey: own.publicKey, issuerKey: keys.privateKey, validity }),
        key: pemOf(own.privateKey),
      };
    },
  };
}

interface CertificateFields {
  subject: string;
  issuer: string;
  subjectKey: KeyObject;
  issuerKey: KeyObject;
  /** Without a host it is an authority. */
  host?: string;
  validity?: Validity;
}

/** X.509 version 3 (RFC 5280, section 4.1), signed with ECDSA and SHA-256. */
function certificate(fields: CertificateFields): string {
  const { from, until } = fields.validity ?? AROUND_NOW;
  const toBeSigned = sequence(
    der(0xa0, integer(2)),
    integer(fields.host ? 2 : 1),
    ECDSA_WITH_SHA256,
    distinguishedName(fields.issuer),
    sequence(utcTime(from), utcTime(until)),
    distinguishedName(fields.subject),
    fields.subjectKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(fields.host ? alternativeName(fields.host) : IS_AUTHORITY)),
  );
  const signature = sign('sha256', toBeSigned, fields.issuerKey);
  const bytes = sequence(toBeSigned, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const ECDSA_WITH_SHA256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = der(0x06, Buffer.from('550403', 'hex'));
const IS_AUTHORITY = sequence(
  der(0x06, Buffer.from('551d13', 'hex')),
  der(0x01, Buffer.from([0xff])),
  der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
);

function alternativeName(host: string): Buffer {
  const name = isIP(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
  return sequence(der(0x06, Buffer.from('551d11', 'hex')), der(0x04, sequence(name)));
}

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));
}

function utcTime(time: Date): Buffer {
  return der(0x17, Buffer.from(`${time.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
