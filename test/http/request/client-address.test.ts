import type { IncomingMessage } from 'node:http';

import t from 'tap';

import { clientAddress, toBlockList } from '#http/request/client-address.ts';

const from = (remoteAddress: string | undefined, forwarded: string | undefined, trusted: string[]): string =>
  clientAddress(
    { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as unknown as IncomingMessage,
    toBlockList(trusted),
  );

t.test('without trusted proxies the client is the address of the connection', (t) => {
  t.equal(from('192.0.2.1', undefined, []), '192.0.2.1');
  t.equal(from('192.0.2.1', '10.0.0.1', []), '192.0.2.1');
  t.equal(from('::ffff:192.0.2.1', undefined, []), '192.0.2.1');
  t.equal(from('2001:db8::1', '10.0.0.1', ['192.0.2.0/24']), '2001:db8::1');
  t.equal(from(undefined, '10.0.0.1', ['10.0.0.0/8']), '', 'a connection that is gone has none');
  t.end();
});

t.test('trusted proxies are seen through, the last stranger counts', (t) => {
  const trusted = ['192.0.2.0/24', '2001:db8::/32', '10.0.0.7'];
  t.equal(from('192.0.2.1', '203.0.113.5', trusted), '203.0.113.5');
  t.equal(from('192.0.2.1', '1.1.1.1, 203.0.113.5, 10.0.0.7', trusted), '203.0.113.5');
  t.equal(from('192.0.2.1', '1.1.1.1, 203.0.113.5', trusted), '203.0.113.5', 'what he says of others is not believed');
  t.equal(from('192.0.2.1', '10.0.0.7,192.0.2.9', trusted), '10.0.0.7', 'when all are trusted, the first');
  t.equal(from('::ffff:192.0.2.1', '::ffff:203.0.113.5', trusted), '203.0.113.5');
  t.equal(from('2001:db8::5', '2001:dead::1', trusted), '2001:dead::1');
  t.equal(from('192.0.2.1', 'nonsense', trusted), '192.0.2.1');
  t.equal(from('192.0.2.1', '203.0.113.5, nonsense', trusted), '192.0.2.1', 'beyond nonsense nothing is believed');
  t.equal(from('192.0.2.1', '', trusted), '192.0.2.1');
  t.equal(from('192.0.2.1', `${'1.1.1.1,'.repeat(10_000)}203.0.113.5`, trusted), '203.0.113.5');
  t.end();
});
