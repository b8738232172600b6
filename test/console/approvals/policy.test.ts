// The page of the approval policy shows the rules in force, and a rule of the configuration that is not in force yet.
import t from 'tap';

import { itself } from '#acts/act.ts';
import { changeRole } from '#acts/accounts/accounts.ts';
import { startConsole } from '#test/console/world.ts';

t.setTimeout(600_000);

t.test('the policy page shows each rule, and why the policy of larder.toml is not in force', async (t) => {
  const store = await startConsole(t, (text) =>
    text.replace('[approvals]', '[approvals]\ntransfers = "2"\nreleases = ["1 for snap/*:*/stable"]'),
  );
  await store.join('dave');
  await store.beside.acts.do(changeRole, itself, { id: store.ids['dave'] ?? '', role: 'auditor', remove: false });
  for (const who of ['root', 'dave']) {
    const page = await (await store.visit(who)).open('/console/policy');
    t.match(page.text, /transfers 0 2 not in force/, who);
    t.match(page.text, 'releases snap/*:*/stable 0 1 not in force');
    t.match(
      page.text,
      "The policy asks for 2 people, and 0 enabled accounts without the role 'store-admin' have the role",
    );
    t.match(page.text, 'so that a session in a browser cannot lower them');
  }
  t.equal((await (await store.visit('ada')).open('/console/policy')).status, 403);
});

t.test('a store without a policy says that no change needs approval', async (t) => {
  const store = await startConsole(t);
  const page = await (await store.visit('root')).open('/console/policy');
  t.match(page.text, 'No change needs approval.');
  t.notMatch(page.text, 'not in force');
});
