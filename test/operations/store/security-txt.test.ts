import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';

const path = '/.well-known/security.txt';

t.test('security.txt names the contacts of the configuration, and is absent without any', async (t) => {
  const none = await startStore(t);
  t.match(await none.anyone.get(path), { status: 404, body: { 'error-list': [{ code: 'resource-not-found' }] } });
  const contacts = ['mailto:security@site.example', 'https://site.example/report', 'tel:+1-201-555-0123'];
  const store = await startStore(t, (text) =>
    text.replace(/^listen = .*$/m, `$&\nsecurity_contacts = ${JSON.stringify(contacts)}`),
  );
  const reply = await fetch(`${store.url}${path}`);
  t.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8');
  const lines = (await reply.text()).split('\r\n');
  t.same(lines, [
    ...contacts.map((contact) => `Contact: ${contact}`),
    'Expires: 2026-03-31T12:00:00.000Z',
    'Canonical: http://127.0.0.1:8080/.well-known/security.txt',
    'Preferred-Languages: en',
    '',
  ]);
});

t.test('a contact that would add a line to security.txt is refused', async (t) => {
  for (const contact of [
    'mailto:a@b\\nPolicy: x',
    'http://site.example',
    'javascript:alert(1)',
    'security@site.example',
  ]) {
    const started = startStore(t, (text) => text.replace(/^listen = .*$/m, `$&\nsecurity_contacts = ["${contact}"]`));
    await t.rejects(started, /security_contacts/, contact);
  }
});
