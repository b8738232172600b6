// Rollouts in the console: started by the release form, followed on a page of their own, and listed for people when they pause.
import t from 'tap';

import { approveProposal } from '#acts/approvals/proposals.ts';
import { pauseRollout } from '#acts/releases/rollouts.ts';
import { itself } from '#acts/act.ts';
import { configure } from '#test/fixtures/accounts/approvers.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole } from '#test/console/world.ts';

t.test('a rollout is started, paused, resumed and rolled back in the console', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  const atHome = await store.visit('ada');
  const packagePath = '/console/packages/snap/hello';
  const release = (query: string) => atHome.open(`${packagePath}/release?revision=2&channels=stable&${query}`);

  for (const [query, problem] of [
    ['steps=0', /A step of 0 % reaches no device/],
    ['steps=ten', /Steps are a percentage, such as 10%/],
    ['hours=6', /Enter the steps of the rollout/],
    ['steps=10&failures=many', /A bound of failures is written as/],
    ['steps=10&failures=100%25', /A bound of 100 % never pauses/],
    ['steps=10&notify=zoe', /no account 'zoe' to notify/],
    ['steps=10&percentage=5', /a percentage or a rollout/],
  ] as const)
    t.match(await release(query), { text: problem }, query);
  const preview = await release('steps=10%25&hours=6&failures=2%25+of+30&notify=bob');
  t.match(
    preview.text,
    /1, and 2 for 10 %, in steps of 10 % every 6 h, pauses if more than 2 % of at least 30 devices/,
  );
  t.match(await atHome.send(preview, `${packagePath}/release`), { text: /revision 2 10 % [^%]* rollout Close/ });

  const address = `${packagePath}/rollouts/1`;
  const page = await atHome.open(address);
  t.match(page.text, /Revision 2 to latest\/stable, in steps of 10 % State .*running at 10 %/);
  t.match(page.text, /Steps to come: 20, 30, 40/);
  t.match(page.html, /aria-label="0 of 0 devices took it"/);
  t.match(await atHome.send(page, `${address}/pause`, { reason: 'It <b>crashes</b>.' }), {
    text: /The rollout is paused\. .*Because It <b>crashes<\/b>\./,
  });
  t.match(await atHome.open(`${packagePath}/rollouts`), { text: /1 latest\/stable 2 .*paused 10 %/ });

  for (const [person, sees] of [
    ['ada', true],
    ['bob', true],
    ['root', true],
  ] as const) {
    const { text } = await (await store.visit(person)).open('/console/waiting');
    t.equal(/Paused rollouts .*snap\/hello latest\/stable: revision 2/.test(text), sees, person);
  }
  await store.join('carol');
  await store.join('devices');
  t.notMatch((await (await store.visit('carol')).open('/console/waiting')).text, /Paused rollouts/, 'no other account');
  t.notMatch(
    (await (await store.visit('devices')).open('/console/waiting')).text,
    /Paused rollouts/,
    'by a word of the plan',
  );
  t.match((await store.anyone.get('/metrics')).body, /larder_pending\{kind="paused rollout"\} 1/);

  t.match(await atHome.send(await atHome.open(address), `${address}/resume`), { text: /The rollout continues\./ });
  t.match(await atHome.send(await atHome.open(address), `${address}/roll-back`), { text: /is rolled back/ });
  t.match(await atHome.open(address), { text: /rolled back at 10 %/ });
  t.match(await atHome.open(`${packagePath}/rollouts/9`), { status: 404 });
  t.match(await (await store.visit('bob')).open(address), { status: 404 });

  const track = `${packagePath}/tracks/latest`;
  const phasing = async (text: string) =>
    atHome.send(await atHome.open(track), track, { 'version-pattern': '', phasing: text });
  t.match(await phasing('1, 50, 100'), { html: /value="1, 50, 100"/ });
  await store.beside.records.change({ at: 'now', actor: 'test', action: 'test', object: 'track' }, async (tx) => {
    const [latest] = await tx.tracks.list(id);
    await tx.tracks.update(id, { ...latest!, rollout: { ...latest!.rollout!, intervalSeconds: 3600 } });
  });
  await phasing('1, 50, 100');
  t.match(await store.beside.records.tracks.list(id), [{ rollout: { intervalSeconds: 3600 } }], 'the time stays');
  t.match(await phasing('25'), { html: /value="25"/ });
  t.match(await store.beside.records.tracks.list(id), [{ automaticPhasingPercentage: 25, rollout: undefined }]);
  t.match(await phasing('5, 1'), { text: /must rise/ });
  t.match(await phasing('101'), { text: /above 100/ });
  t.match(await phasing('ten'), { text: /Steps are a number from 0 to 100/ });
});

t.test('resuming in the console waits for approvals, if the policy asks for them', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 2, rollout: { steps: [10] } }]);
  const subject = (await store.beside.records.packages.byId(id))!;
  await store.beside.acts.do(pauseRollout, itself, { package: subject, number: 1 });
  await store.setPassword('bob');
  await store.setTotp('bob');
  await configure(store, `releases = ["1 of ${store.ids.bob} for snap/*:*/stable"]`);
  const atHome = await store.visit('ada');
  const address = '/console/packages/snap/hello/rollouts/1';
  t.match(await atHome.send(await atHome.open(address), `${address}/resume`), {
    text: /Resuming is proposed and waits/,
  });
  const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
  await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number: 1, login });
  t.match(await atHome.send(await atHome.open(address), `${address}/resume`), { text: /The rollout continues\./ });
});
