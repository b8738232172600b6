// One name for each client, however its address is written and whichever of its addresses it uses.
import fc from 'fast-check';
import t from 'tap';

import { clientOf } from '#domain/client.ts';

t.test('a client with IPv4 is its address', (t) => {
  for (const address of ['10.0.0.7', '192.168.255.1', '::ffff:10.0.0.7', '::ffff:0a00:0007', '0:0:0:0:0:FFFF:10.0.0.7'])
    t.equal(clientOf(address), address.startsWith('192') ? address : '10.0.0.7', address);
  t.equal(clientOf(''), '', 'a connection that has ended has none');
  t.end();
});

t.test('a client with IPv6 is its /64, in one spelling', (t) => {
  for (const address of [
    '2001:db8:0:7::1',
    '2001:DB8:0:7:ffff:ffff:ffff:ffff',
    '2001:0db8:0000:0007::',
    '2001:db8::7:1:2:3:4',
    '2001:db8:0:7::10.0.0.7',
  ]) {
    t.equal(clientOf(address), '2001:db8:0:7::/64', address);
  }
  t.not(clientOf('2001:db8:0:8::1'), clientOf('2001:db8:0:7::1'));
  t.equal(clientOf('::1'), '0:0:0:0::/64');
  t.equal(clientOf('fe80::1%eth0'), 'fe80:0:0:0::/64', 'whatever interface it came by');
  t.end();
});

t.test('the addresses of one /64 are one client, those of two are two, in every spelling', (t) => {
  const group = fc.nat(0xffff);
  const part = fc.tuple(group, group, group, group);
  /** The same address at full length, and as browsers shorten it. */
  const spellings = (groups: number[]): string[] => {
    const full = groups.map((groupValue) => groupValue.toString(16)).join(':');
    return [full, full.toUpperCase(), new URL(`http://[${full}]`).hostname.slice(1, -1)];
  };
  const isMapped = (groups: number[]): boolean =>
    groups.slice(0, 5).every((groupValue) => groupValue === 0) && groups[5] === 0xffff;
  fc.assert(
    fc.property(part, part, part, (network, first, other) => {
      fc.pre(!isMapped([...network, ...first]) && !isMapped([...network, ...other]));
      const names = [first, other].flatMap((host) => spellings([...network, ...host]).map(clientOf));
      const elsewhere = clientOf(spellings([network[0] ^ 1, ...network.slice(1), ...first])[0] ?? '');
      return new Set(names).size === 1 && !names.includes(elsewhere);
    }),
  );
  t.end();
});
