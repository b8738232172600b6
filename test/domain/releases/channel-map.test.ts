import fc from 'fast-check';
import t from 'tap';

import {
  chooseRelease,
  everyDevice,
  newestOfSlots,
  readProgress,
  slotsOf,
  stepTowards,
  type SlotRelease,
} from '#domain/releases/channel-map.ts';
import { channel, parseChannel, risks } from '#domain/releases/channel.ts';
import { readEpoch } from '#domain/revisions/epoch.ts';

const now = '2026-11-22T00:00:00.000Z';
const later = '2026-11-23T00:00:00.000Z';

const snap = (name: string, architecture: string, revision: number, more: Partial<SlotRelease> = {}): SlotRelease => ({
  channel: name,
  slot: architecture,
  architecture,
  baseName: null,
  baseChannel: null,
  revision,
  progressive: everyDevice,
  expiresAt: null,
  ...more,
});
const charm = (name: string, base: string, baseChannel: string, revision: number): SlotRelease => ({
  ...snap(name, 'amd64', revision),
  slot: `${base}/${baseChannel}/amd64`,
  baseName: base,
  baseChannel,
});

const get = (map: SlotRelease[], name: string, more: Partial<Parameters<typeof chooseRelease>[1]> = {}) => {
  const choice = chooseRelease(map, { channel: parseChannel(name)!, architecture: 'amd64', now, ...more });
  return choice && `${choice.channel.name}=${choice.held.revision}`;
};

t.test('a channel serves its own revision; an empty one falls back to the next safer channel', (t) => {
  const map = [snap('latest/stable', 'amd64', 1), snap('latest/beta', 'amd64', 2), snap('2.0/stable', 'amd64', 9)];
  t.equal(get(map, 'stable'), 'latest/stable=1');
  t.equal(get(map, 'candidate'), 'latest/stable=1');
  t.equal(get(map, 'beta'), 'latest/beta=2');
  t.equal(get(map, 'edge'), 'latest/beta=2');
  t.equal(get(map, 'edge/fix'), 'latest/beta=2', 'a branch falls back to its own risk');
  t.equal(get(map, '2.0/edge'), '2.0/stable=9', 'and nothing falls back to another track');
  t.equal(get(map, '3.0/edge'), undefined);
  t.end();
});

t.test('a branch gives nothing any more when it has expired', (t) => {
  const map = [snap('latest/edge', 'amd64', 1), snap('latest/edge/fix', 'amd64', 2, { expiresAt: later })];
  t.equal(get(map, 'edge/fix'), 'latest/edge/fix=2');
  t.equal(get(map, 'edge/fix', { now: later }), 'latest/edge=1');
  t.end();
});

t.test('a device gets the revision for its architecture, before one for all architectures', (t) => {
  const map = [snap('latest/stable', 'all', 1), snap('latest/stable', 'arm64', 2)];
  t.equal(get(map, 'stable'), 'latest/stable=1');
  t.equal(get(map, 'stable', { architecture: 'arm64' }), 'latest/stable=2');
  t.equal(get([snap('latest/stable', 'arm64', 2)], 'stable'), undefined);
  t.end();
});

t.test('a charm is given for its base', (t) => {
  const map = [charm('latest/stable', 'ubuntu', '22.04', 1), charm('latest/stable', 'ubuntu', '24.04', 2)];
  const at = (baseChannel: string) => get(map, 'stable', { base: { name: 'ubuntu', channel: baseChannel } });
  t.equal(at('22.04'), 'latest/stable=1');
  t.equal(at('24.04'), 'latest/stable=2');
  t.equal(at('26.04'), undefined);
  const anyBase = [charm('latest/stable', 'all', 'all', 3)];
  t.equal(get(anyBase, 'stable', { base: { name: 'ubuntu', channel: '26.04' } }), 'latest/stable=3');
  const bundle = [{ ...snap('latest/stable', 'amd64', 4), slot: '*', architecture: null }];
  t.equal(get(bundle, 'stable', { base: { name: 'ubuntu', channel: '26.04' } }), 'latest/stable=4', 'or for the whole');
  t.end();
});

t.test('a progressive release reaches its share of the devices, and no further device while it is paused', (t) => {
  const over = (paused: boolean) => snap('latest/stable', 'amd64', 2, { progressive: { percentage: 30, paused } });
  const map = (paused: boolean) => [snap('latest/stable', 'amd64', 1), over(paused)];
  t.equal(get(map(false), 'stable', { share: () => 29.9 }), 'latest/stable=2');
  t.equal(get(map(false), 'stable', { share: () => 30 }), 'latest/stable=1');
  t.equal(get(map(false), 'stable'), 'latest/stable=1', 'of whom nothing is known gets the old one');
  t.equal(get(map(true), 'stable', { share: () => 0 }), 'latest/stable=1');
  t.equal(get(map(true), 'stable', { share: () => 99, has: 2 }), 'latest/stable=2', 'who has it keeps it');
  t.equal(get([over(false)], 'stable', { share: () => 99 }), undefined, 'and there may be no old one');
  t.end();
});

t.test('a release to all devices is an ordinary one', (t) => {
  t.same(readProgress(undefined), everyDevice);
  t.same(readProgress({ percentage: 100, paused: true }), everyDevice);
  t.same(readProgress({ percentage: 0 }), { percentage: 0, paused: false });
  t.end();
});

t.test('a revision fills the architectures that it was built for', (t) => {
  const slots = (...made: Parameters<typeof slotsOf>) => slotsOf(...made).map(({ slot }) => slot);
  const bases = [
    { name: 'ubuntu', channel: '22.04', architecture: 'amd64' },
    { name: 'ubuntu', channel: '24.04', architecture: 'all' },
  ];
  t.same(slots('snap', { architectures: ['amd64', 'arm64'] }), ['amd64', 'arm64']);
  t.same(slots('snap', {}), ['all']);
  t.same(slots('charm', { bases }), ['ubuntu/22.04/amd64', 'ubuntu/24.04/all']);
  t.same(slots('charm', {}), ['*']);
  t.same(slots('rock', { bases }), ['*'], 'a rock is one for everybody');
  t.end();
});

const architectures = ['amd64', 'arm64', 'all'];
const held = fc
  .record({
    risk: fc.constantFrom(...risks),
    branch: fc.constantFrom(null, 'fix'),
    architecture: fc.constantFrom(...architectures),
    revision: fc.integer({ min: 1, max: 50 }),
    percentage: fc.option(fc.integer({ min: 0, max: 99 })),
    paused: fc.boolean(),
    expired: fc.boolean(),
  })
  .map(({ risk, branch, architecture, revision, percentage, paused, expired }) =>
    snap(channel('latest', risk, branch).name, architecture, revision, {
      progressive: percentage === null ? everyDevice : { percentage, paused },
      expiresAt: branch === null ? null : expired ? now : later,
    }),
  );
const maps = fc.uniqueArray(held, {
  selector: (release) => `${release.channel} ${release.slot} ${String(release.progressive.percentage === null)}`,
  maxLength: 16,
});
const askings = fc.record({
  channel: fc
    .tuple(fc.constantFrom(...risks), fc.constantFrom(null, 'fix'))
    .map(([risk, branch]) => channel('latest', risk, branch)),
  architecture: fc.constantFrom('amd64', 'arm64'),
  has: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  share: fc.option(
    fc.integer({ min: 0, max: 99 }).map((share) => () => share),
    { nil: undefined },
  ),
});

t.test('of several revisions those are released that are the newest for an architecture, and no other', (t) => {
  const architectures = fc.uniqueArray(fc.constantFrom('amd64', 'arm64', 'all'), { minLength: 1 });
  const some = fc.uniqueArray(fc.record({ revision: fc.integer({ min: 1, max: 20 }), architectures }), {
    selector: ({ revision }) => revision,
  });
  /** The slots after these releases, one after the other. */
  const held = (revisions: { revision: number; architectures: string[] }[]): Map<string, number> =>
    new Map(revisions.flatMap((entry) => entry.architectures.map((slot) => [slot, entry.revision] as const)));
  fc.assert(
    fc.property(some, (revisions) => {
      const chosen = newestOfSlots(revisions);
      const rising = revisions.toSorted((a, b) => a.revision - b.revision);
      t.strictSame(held(chosen), held(rising), 'the channel holds the same as if all had been released');
      const needed = new Set(held(chosen).values());
      t.ok(chosen.every(({ revision }) => needed.has(revision)));
    }),
  );
  t.end();
});

t.test('each reply is a revision of the map for that device, and the first on the way down', (t) => {
  fc.assert(
    fc.property(maps, askings, (map, asking) => {
      const choice = chooseRelease(map, { ...asking, now });
      const way = [
        ...(asking.channel.branch === null ? [] : [asking.channel.name]),
        ...risks
          .slice(0, risks.indexOf(asking.channel.risk) + 1)
          .reverse()
          .map((risk) => `latest/${risk}`),
      ];
      const mayHave = (release: SlotRelease): boolean =>
        [asking.architecture, 'all'].includes(release.architecture ?? '') &&
        release.expiresAt !== now &&
        (release.progressive.percentage === null ||
          release.revision === asking.has ||
          (release.progressive.paused !== true && (asking.share?.() ?? 100) < release.progressive.percentage));
      const first = way.find((name) => map.some((release) => release.channel === name && mayHave(release)));
      t.equal(choice?.channel.name, first);
      if (choice !== undefined)
        t.ok(map.includes(choice.held) && choice.held.channel === first && mayHave(choice.held));
    }),
  );
  t.end();
});

t.test('a progressive release that grows keeps its earlier devices', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99 }), fc.nat(99), (first, other, share) => {
      const at = (percentage: number) =>
        get(
          [
            snap('latest/stable', 'amd64', 1),
            snap('latest/stable', 'amd64', 2, { progressive: { percentage, paused: false } }),
          ],
          'stable',
          { share: () => share },
        );
      const [less, more] = [Math.min(first, other), Math.max(first, other)];
      if (at(less) === 'latest/stable=2') t.equal(at(more), 'latest/stable=2');
    }),
  );
  t.end();
});

t.test('a device two epochs back walks there step by step, and never back', (t) => {
  const past = [
    { revision: 1, epoch: readEpoch('0')! },
    { revision: 3, epoch: readEpoch('1*')! },
    { revision: 4, epoch: readEpoch('1*')! },
    { revision: 7, epoch: readEpoch('2*')! },
    { revision: 9, epoch: readEpoch('2')! },
  ];
  const newest = past.at(-1)!;
  const step = (has: number, epoch: string) => stepTowards(newest, past, { has, epoch: readEpoch(epoch)! })?.revision;
  t.equal(step(1, '0'), 4);
  t.equal(step(4, '1*'), 7);
  t.equal(step(7, '2*'), 9);
  t.equal(step(5, '0'), undefined, 'what is older than what it has is no step');
  t.end();
});
