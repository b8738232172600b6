import t from 'tap';
import { X509Certificate } from 'node:crypto';

import { days } from '#domain/clock.ts';
import { fingerprint, hostsOf, makeAuthority, makeServerCertificate } from '#tls/certificates.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const hosts = ['store.example.internal', '10.0.0.7', 'fd00::7'];

t.test('the authority is good for ten years, the server for 397 days, under every name and address', async (t) => {
  const authority = await makeAuthority('larder at store.example.internal', now);
  const server = await makeServerCertificate(authority, hosts, now);
  const [ca, leaf] = [new X509Certificate(authority.certificate), new X509Certificate(server.certificate)];
  t.equal(ca.ca, true);
  t.equal(leaf.ca, false);
  t.equal(leaf.verify(ca.publicKey), true, 'signed by the authority');
  t.equal(leaf.checkIssued(ca), true);
  t.equal((Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / days(1), 397);
  t.equal(new Date(ca.validTo).getUTCFullYear(), 2036);
  t.equal(
    new Date(ca.validFrom).getUTCFullYear(),
    2016,
    'and as long before, for boards that start in the year of their image',
  );
  t.equal((now.getTime() - Date.parse(leaf.validFrom)) / days(1), 300);
  t.strictSame(hostsOf(server.certificate), [...hosts].sort());
  t.equal(leaf.checkHost('store.example.internal'), 'store.example.internal');
  t.equal(leaf.checkIP('10.0.0.7'), '10.0.0.7');
  t.not(leaf.checkHost('elsewhere.example.internal'), 'elsewhere.example.internal');
  t.match(fingerprint(authority.certificate), /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/);
});

t.test('a server certificate does not outlive its authority', async (t) => {
  const authority = await makeAuthority('larder', now);
  const late = new Date('2035-12-01T00:00:00.000Z');
  const server = await makeServerCertificate(authority, ['store'], late);
  t.equal(new X509Certificate(server.certificate).validTo, new X509Certificate(authority.certificate).validTo);
});
