// The sections about logins with the OpenID provider and with smart cards in the guide for administrators: with a provider that signs for
// the test, and with certificates of the test in place of cards.
import { parse, stringify } from 'smol-toml';
import t from 'tap';

import { commandsOn } from '#test/cli/process.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { startCertificateStore } from '#test/identity/certificates/world.ts';
import { person, startOpenidStore } from '#test/identity/openid/world.ts';

t.test('the settings of the guide let a person in, with the roles of their groups', async (t) => {
  const [settings = [], lines = []] = examplesIn('administrator', 'Log in with the OpenID provider of the site', 2);
  const { oidc } = parse(settings.join('\n'))['identity'] as Record<string, Record<string, string>>;
  const { client_id: id, name } = oidc ?? {};
  const replaced = ['issuer', 'client_id', 'client_secret_file', 'authority_file', 'name'];
  const others = Object.fromEntries(Object.entries(oidc ?? {}).filter(([key]) => !replaced.includes(key)));
  t.match({ id, name }, { id: 'larder', name: 'EXAMPLE' });
  const store = await startOpenidStore(t, stringify(others).replace('[roles]', '[identity.oidc.roles]'));
  const { page } = await store.logIn(person('carol', { groups: ['store-officers'] }));
  t.equal(page.status, 200, page.text);
  const carol = await store.beside.records.accounts.findByName('carol');
  t.strictSame(await store.beside.records.accounts.rolesOf(carol?.id ?? ''), ['transfer-approver']);

  const refused = await store.logIn(person('bob', { groups: ['Store Auditors'] }));
  t.match(refused.page.text, /larder account link ID subject of bob/);
  const { larder } = commandsOn(store.directory);
  const outputs: string[] = [];
  for (const line of lines) {
    const words = line.replace('larder ', '').replace('ID', store.ids.bob).replace('SUBJECT', "'subject of bob'");
    const { code, out, err } = await larder(words);
    t.equal(code, 0, err);
    outputs.push(out);
    if (line.includes(' link '))
      t.equal((await store.logIn(person('bob', { groups: ['Store Auditors'] }))).page.status, 200);
  }
  t.match(outputs[1], /auditor \(from the group Store Auditors\)/);
});

t.test('the settings of the guide let people in with their certificates, and its commands require them', async (t) => {
  const [settings = [], lines = []] = examplesIn('administrator', 'Log in with smart cards', 2);
  const { certificates } = parse(settings.join('\n'))['identity'] as Record<string, Record<string, string>>;
  const replaced = ['listen', 'authority_file', 'crl_files'];
  const others = Object.fromEntries(Object.entries(certificates ?? {}).filter(([key]) => !replaced.includes(key)));
  t.strictSame(
    Object.keys(certificates ?? {}).filter((key) => replaced.includes(key)),
    replaced,
  );
  const store = await startCertificateStore(t, stringify(others));
  await store.setPassword('root');
  const { browser, presented } = await store.logIn(store.certificateFor('root'));
  t.equal(presented.status, 200, presented.text);
  const byPassword = await store.visit('root');
  const { larder } = commandsOn(store.directory);
  // The command tells the serving process, which is this one, to reload.
  const reload = (): void => {
    store.appliance.reload();
  };
  process.on('SIGHUP', reload);
  t.teardown(() => process.off('SIGHUP', reload));
  for (const line of lines) {
    const { code, err } = await larder(line.replace('larder ', '').replace('ID', store.ids.root));
    t.equal(code, 0, `${line}: ${err}`);
  }
  t.equal((await byPassword.open('/console')).status, 401);
  t.equal((await store.visitor().logIn('root')).status, 403);
  t.equal((await browser.open('/console')).status, 200, 'the session of the certificate goes on');
  t.equal((await larder('config unset identity.certificates.require_certificate')).code, 0);
  t.equal((await store.visitor().logIn('root')).status, 200, 'the way out without a card');
});
