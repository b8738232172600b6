// Channels that are called something else here than at their source.
import t from 'tap';

import { readRenaming, renameChannel } from '#domain/transfers/channel-renaming.ts';

t.test('a channel without a track is renamed on all of them, and one with a track there alone', (t) => {
  const called = (name: string, ...texts: string[]): string =>
    renameChannel(
      name,
      texts.map((text) => readRenaming(text)!),
    );
  t.equal(called('latest/stable', 'stable=stable/site-test'), 'latest/stable/site-test');
  t.equal(called('2.0/stable', 'stable=stable/site-test'), '2.0/stable/site-test');
  t.equal(called('2.0/stable', '2.0/stable=3.0/edge'), '3.0/edge');
  t.equal(called('latest/stable', '2.0/stable=3.0/edge'), 'latest/stable');
  t.equal(called('latest/stable', 'latest/stable=3.0/edge'), '3.0/edge');
  t.equal(called('latest/stable/fix', 'stable=candidate'), 'latest/stable/fix', 'a branch has a name of its own');
  t.equal(called('2.0/edge/fix', 'edge/fix=stable'), '2.0/stable');
  t.equal(called('latest/edge', 'stable=edge', 'edge=beta'), 'latest/beta');
  t.equal(called('latest/stable', 'stable=edge', 'edge=beta'), 'latest/edge', 'once');
  t.end();
});

t.test('a renaming without two channels, or with a track on one side only, is invalid', (t) => {
  for (const text of [
    '',
    'stable',
    'stable=',
    '=stable',
    'stable=edge=beta',
    'stable=2.0/edge',
    '2.0/edge=stable',
    'a b=c',
  ])
    t.equal(readRenaming(text), undefined, text);
  t.end();
});
