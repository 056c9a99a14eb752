import { embeddedIpv4 } from './embedded-ipv4';

describe('embeddedIpv4', () => {
  it.each([
    ['::ffff:192.0.2.33', '192.0.2.33'],
    ['::ffff:c000:221', '192.0.2.33'],
    ['0:0:0:0:0:FFFF:192.0.2.33', '192.0.2.33'],
    ['::192.0.2.33', '192.0.2.33'],
    ['::2', '0.0.0.2'],
    ['::ffff:0:192.0.2.33', '192.0.2.33'],
    ['64:ff9b::192.0.2.33', '192.0.2.33'],
    ['64:ff9b:1:fffe::192.0.2.33', '192.0.2.33'],
    ['2002:c000:0221::1', '192.0.2.33'],
    ['2001:0000:4136:e378:8000:63bf:3fff:fdd2', '192.0.2.45'],
    ['2002::', '0.0.0.0'],
  ])('finds in %s the address %s', (address, embedded) => {
    expect(embeddedIpv4(address)).toBe(embedded);
  });

  it.each(['::', '::1', '2606:4700::192.0.2.33', 'fe80::1', '2001:db8::1'])('finds none in %s', (address) => {
    expect(embeddedIpv4(address)).toBeUndefined();
  });
});
