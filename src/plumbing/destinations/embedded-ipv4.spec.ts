import { embeddedIpv4s } from './embedded-ipv4';

describe('embeddedIpv4s', () => {
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
    ['2606:4700::0:5efe:192.0.2.33', '192.0.2.33'],
    ['2606:4700::200:5efe:192.0.2.33', '192.0.2.33'],
    ['fe80::5efe:c000:221', '192.0.2.33'],
  ])('finds in %s the address %s', (address, embedded) => {
    expect(embeddedIpv4s(address)).toEqual([embedded]);
  });

  it('finds both in an ISATAP address of a 6to4 network', () => {
    expect(embeddedIpv4s('2002:c000:0221::5efe:10.0.0.1')).toEqual(['192.0.2.33', '10.0.0.1']);
  });

  it.each(['::', '::1', '2606:4700::192.0.2.33', 'fe80::1', '2001:db8::1', '2606:4700::100:5efe:1:1'])(
    'finds none in %s',
    (address) => {
      expect(embeddedIpv4s(address)).toEqual([]);
    },
  );
});
