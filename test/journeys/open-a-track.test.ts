// A track within its guardrails: the store administrator sets them on the host, the publisher opens the track and releases to it.
import t from 'tap';

import { charm } from '#test/fixtures/packages/archives.ts';
import { charmcraft } from '#test/fixtures/clients/charmcraft.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { larder } from '../cli/world.ts';

t.test('a track is opened within its guardrails, released to, and made the default', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const hers = charmcraft(store, ada);
  await hers.register('hello');
  await hers.upload('hello', charm('hello'));

  // No administrator has set the guardrails for tracks yet.
  t.match(await hers.createTrack('hello', { name: '2.0', 'automatic-phasing-percentage': null }), {
    status: 400,
    body: { 'error-list': [{ code: 'invalid-tracks', message: /Ask the store administrator/ }] },
  });
  t.match(await hers.release('hello', 1, ['2.0/edge']), { status: 400 });

  // The administrator sets a guardrail beside the serving store; from then on tracks may be opened that match it.
  const administrator = (line: string) => larder(`${line} --data ${store.directory}`);
  t.match(await administrator(`guardrail add charm/hello '[0-9]+\\.[0-9]+'`), { code: 0 });
  t.match(await hers.createTrack('hello', { name: 'two', 'version-pattern': null }), {
    status: 400,
    body: { 'error-list': [{ code: 'invalid-tracks', message: /^Invalid track name 'two'/ }] },
  });
  const opened = { name: '2.0', 'version-pattern': '2.*', 'automatic-phasing-percentage': '50' };
  t.match(await hers.createTrack('hello', opened), {
    status: 200,
    body: {
      metadata: {
        tracks: [{ name: 'latest' }, { name: '2.0', 'version-pattern': '2.*', 'automatic-phasing-percentage': 50 }],
        'track-guardrails': [{ pattern: '[0-9]+\\.[0-9]+', 'created-at': /Z$/ }],
      },
    },
  });
  t.match(await hers.createTrack('hello', opened), {
    status: 409,
    body: { 'error-list': [{ code: 'conflicting-tracks', message: /^Conflicting track exists/ }] },
  });

  // ada releases to it, makes it the default, and promotes within it without naming it.
  t.match(await hers.release('hello', 1, ['2.0/edge', '2.0/edge/fix']), { status: 200 });
  t.match(await ada.patch('/publishergw/v1/charm/hello', { 'default-track': '2.0' }), { status: 200 });
  t.match(await hers.promote('hello', 'edge', 'stable'), { status: 200 });
  const { 'channel-map': map, package: subject } = await hers.status('hello');
  t.same([...new Set(map.map(({ channel }) => channel))], ['2.0/stable', '2.0/edge', '2.0/edge/fix']);
  t.same(subject.channels.map(({ name, fallback }) => [name, fallback]).slice(4), [
    ['2.0/stable', null],
    ['2.0/candidate', '2.0/stable'],
    ['2.0/beta', '2.0/candidate'],
    ['2.0/edge', '2.0/beta'],
    ['2.0/edge/fix', '2.0/edge'],
  ]);

  // When the guardrail goes, the track stays and no other is opened.
  t.match(await administrator(`guardrail remove charm/hello '[0-9]+\\.[0-9]+'`), { code: 0 });
  t.match(await hers.createTrack('hello', { name: '2.1' }), { status: 400 });
  t.match(await hers.release('hello', 1, ['2.0/beta']), { status: 200 });
});
