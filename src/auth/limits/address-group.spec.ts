import { addressGroup } from './address-group';

describe('addressGroup', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::192.0.2.1', '0:0:0:0::/64'],
    ['fe80::1%eth0.1', 'fe80:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('groups %s as %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });

  it.each(['', 'unknown', '192.0.2.1:80', '[2001:db8::1]', '192.0.2', 'x'.repeat(10_000)])(
    'returns null for %.20j',
    (text) => {
      expect(addressGroup(text)).toBeNull();
    },
  );
});
