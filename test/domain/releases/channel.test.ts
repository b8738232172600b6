import fc from 'fast-check';
import t from 'tap';

import {
  channel,
  coversChannel,
  fallback,
  isTrackName,
  parseChannel,
  readChannelGlob,
  readChannelPattern,
  risks,
  type Channel,
  type ChannelPattern,
} from '#domain/releases/channel.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

const letter = fc.constantFrom(...Array.from('abzABZ019'));
const joined = (joints: string, maxLength: number) =>
  fc
    .array(fc.tuple(fc.constantFrom('', ...Array.from(joints)), letter), { minLength: 1, maxLength })
    .map((parts) => parts.map(([joint, character], at) => (at === 0 ? character : joint + character)).join(''));
const isRisk = (text: string): boolean => (risks as readonly string[]).includes(text);
const trackName = joined('._-', 14).filter((text) => !isRisk(text));
const branchName = joined('._+-', 40).filter((text) => !isRisk(text));
const channels: fc.Arbitrary<Channel> = fc
  .tuple(trackName, fc.constantFrom(...risks), fc.option(branchName))
  .map(([track, risk, branch]) => channel(track, risk, branch));

t.test('a channel that is written is read as the same', (t) => {
  fc.assert(
    fc.property(channels, (original) => {
      t.same(parseChannel(original.name), original);
      const parts = original.name.split('/');
      t.equal(parts.length, original.branch === null ? 2 : 3);
      t.same([parts[0], parts[1], parts[2] ?? null], [original.track, original.risk, original.branch]);
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('a risk alone, and a risk with a branch, mean the latest track', (t) => {
  for (const risk of risks) {
    t.same(parseChannel(risk), { track: 'latest', risk, branch: null, name: `latest/${risk}` });
    t.same(parseChannel(`${risk}/fix`), { track: 'latest', risk, branch: 'fix', name: `latest/${risk}/fix` });
  }
  t.same(
    parseChannel('2.0'),
    { track: '2.0', risk: 'stable', branch: null, name: '2.0/stable' },
    'a track alone means its stable risk',
  );
  t.end();
});

t.test('parsing never fails: the result is a channel or undefined, and a parsed channel is written in full', (t) => {
  const piece = fc.oneof(
    fc.constantFrom('latest', 'edge', 'stable', 'beta', '2.0', '', '*', '.', 'a--b', 'x'.repeat(29), 'é', 'fix'),
    fc.string({ maxLength: 6 }),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 5 }).map((parts) => parts.join('/')),
        fc.string({ unit: anyCharacter }),
      ),
      (text) => {
        const read = parseChannel(text);
        if (read === undefined) return;
        t.same(parseChannel(read.name), read);
        t.ok(isTrackName(read.track) && isRisk(read.risk));
      },
    ),
    { numRuns: 1000 },
  );
  for (const text of [
    '',
    '/',
    'edge/',
    '/edge',
    'latest/',
    'latest//fix',
    'latest/edge/',
    'latest/edge/fix/more',
    'edge/fix/more',
    'latest/EDGE',
    'Latest/Edge',
    'latest/edge/stable',
    'edge/stable',
    ' edge',
    'edge\n',
    'la/test',
    `latest/edge/${'x'.repeat(129)}`,
    '-a/edge',
    'a-/edge',
    'a..b/edge',
    'a_-b/edge',
  ]) {
    t.equal(parseChannel(text), undefined, JSON.stringify(text));
  }
  t.ok(parseChannel(`latest/edge/${'x'.repeat(128)}`));
  t.end();
});

t.test('a track name is 28 letters, digits and single inner joints at most', (t) => {
  const pattern = /^[a-zA-Z0-9](?:[_.-]?[a-zA-Z0-9])*$/;
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('aZ0_.- +é')), maxLength: 32 }), (text) => {
      t.equal(isTrackName(text), text.length <= 28 && pattern.test(text));
    }),
    { numRuns: 500 },
  );
  t.ok(isTrackName('x'.repeat(28)));
  t.notOk(isTrackName('x'.repeat(29)));
  t.end();
});

const read = (text: string): ChannelPattern => {
  const pattern = readChannelPattern(text);
  if (pattern === undefined) throw new Error(`cannot read ${text}`);
  return pattern;
};

t.test('a token names a channel just as a release does', (t) => {
  const part = fc.oneof(
    fc.constantFrom('latest', 'egde', 'EDGE', '2.0', '', '.', 'a--b', 'fix', ...risks),
    trackName,
    fc.string({ maxLength: 4 }).filter((text) => text !== '*'),
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 4 }).map((parts) => parts.join('/')),
      channels,
      (text, other) => {
        const [released, pattern] = [parseChannel(text), readChannelPattern(text)];
        t.equal(pattern === undefined, released === undefined, JSON.stringify(text));
        if (pattern === undefined || released === undefined) return;
        t.same(pattern, { text, names: [released.name] });
        t.ok(coversChannel(pattern, released));
        t.equal(coversChannel(pattern, other), other.name === released.name);
      },
    ),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('a star matches exactly one part', (t) => {
  const starred = channels.chain((example) => {
    const parts = example.name.split('/');
    return fc
      .array(fc.boolean(), { minLength: parts.length, maxLength: parts.length })
      .map((stars) => [example, parts.map((part, at) => (stars[at] === true ? '*' : part)).join('/')] as const);
  });
  fc.assert(
    fc.property(starred, channels, ([covered, text], other) => {
      const pattern = read(text);
      t.ok(coversChannel(pattern, covered), `${text} for ${covered.name}`);
      const [patternParts, parts] = [text.split('/'), other.name.split('/')];
      const expected =
        patternParts.length === parts.length && patternParts.every((part, at) => part === '*' || part === parts[at]);
      t.equal(coversChannel(pattern, other), expected, `${text} for ${other.name}`);
      t.ok(coversChannel(read('*'), covered), 'a lone star covers every channel');
      t.equal(coversChannel(read('*/*'), covered), covered.branch === null);
      t.equal(coversChannel(read('*/*/*'), covered), covered.branch !== null);
    }),
    { numRuns: 300 },
  );
  for (const text of [
    '3.*/stable',
    '**',
    '*/egde',
    '*/',
    '/*',
    '*/*/*/*',
    'edge/*/*',
    '*/edge/stable',
    '*edge',
    ' *',
    '*\n',
  ]) {
    t.equal(readChannelPattern(text), undefined, JSON.stringify(text));
  }
  for (const [text, name] of [
    ['latest', 'latest/stable'],
    ['edge', 'latest/edge'],
    ['edge/*', 'latest/edge/*'],
    ['edge/fix', 'latest/edge/fix'],
    ['2.0/*', '2.0/*'],
    ['*/beta', '*/beta'],
    ['*/*/fix', '*/*/fix'],
  ] as const)
    t.same(read(text).names, [name], text);
  t.end();
});

t.test('parsing a pattern never fails, and a pattern is written in full', (t) => {
  const piece = fc.oneof(
    fc.constantFrom('*', 'latest', 'edge', '2.0', '', '**', 'x'.repeat(29)),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 5 }).map((parts) => parts.join('/')),
        fc.string({ unit: anyCharacter }),
      ),
      (text) => {
        for (const name of readChannelPattern(text)?.names ?? []) t.same(readChannelPattern(name)?.names, [name], text);
      },
    ),
    { numRuns: 1000 },
  );
  t.end();
});

/** A glob of the first release, read by trying everything: short, slow and plain. */
function naive(glob: string, text: string): boolean {
  if (glob === '') return text === '';
  if (glob.startsWith('*')) {
    for (let at = 0; at <= text.length; at++) {
      if (!text.slice(0, at).includes('/') && naive(glob.slice(1), text.slice(at))) return true;
    }
    return false;
  }
  return text !== '' && glob[0] === text[0] && naive(glob.slice(1), text.slice(1));
}

t.test('a glob of the first release covers the same channels as before', (t) => {
  const short = fc
    .tuple(
      fc.string({ unit: fc.constantFrom(...Array.from('ab1')), minLength: 1, maxLength: 4 }),
      fc.constantFrom(...risks),
      fc.option(fc.string({ unit: fc.constantFrom(...Array.from('ab1')), minLength: 1, maxLength: 3 })),
    )
    .map(([track, risk, branch]) => channel(track, risk, branch));
  // Each part of a channel's name with a run of it made a star, or two, or left; or something else.
  const starred = (part: string): fc.Arbitrary<string> =>
    fc
      .tuple(fc.nat({ max: part.length }), fc.nat({ max: part.length }), fc.constantFrom('*', '**', 'a*', '*b'))
      .map(([from, to, star]) => (from > to ? part : part.slice(0, from) + star + part.slice(to)));
  const pair = short.chain((example) =>
    fc.tuple(
      fc.oneof(
        { weight: 4, arbitrary: fc.tuple(...example.name.split('/').map(starred)).map((parts) => parts.join('/')) },
        fc.tuple(...example.name.split('/').slice(1).map(starred)).map((parts) => parts.join('/')),
        fc.string({ unit: fc.constantFrom(...Array.from('*ab1/edg')), maxLength: 12 }),
      ),
      fc.oneof({ weight: 4, arbitrary: fc.constant(example) }, short),
    ),
  );
  let matched = 0;
  fc.assert(
    fc.property(pair, ([text, example]) => {
      const pattern = readChannelGlob(text);
      if (pattern === undefined) return;
      const full = isRisk(text.split('/')[0] ?? '') ? `latest/${text}` : text;
      const expected = naive(full, example.name);
      if (expected) matched++;
      t.equal(coversChannel(pattern, example), expected, `${text} for ${example.name}`);
    }),
    { numRuns: 3000 },
  );
  t.ok(matched > 300 && matched < 2700, `${matched} of them matched`);
  for (const text of ['edge', '*', '*/edge', 'latest/*', '2.*/stable/*', 'a+b/edge', 'latest/egde'])
    t.ok(readChannelGlob(text), text);
  for (const text of ['', '/', 'edge/', 'a/b/c/d', 'é', ' edge', 'edge,beta', 'x'.repeat(201), '[ab]/edge', '?/edge'])
    t.notOk(readChannelGlob(text), text);
  t.end();
});

t.test('no glob takes long', (t) => {
  const cpu = cpuWatch();
  const target = channel('latest', 'edge', 'a'.repeat(128));
  for (const branch of [`${'*a'.repeat(90)}b`, `${'*'.repeat(180)}b`]) {
    coversChannel({ text: '', names: [`latest/edge/${branch}`] }, target);
  }
  t.ok(cpu() < 50);
  t.end();
});

t.test('falling back ends at stable, by way of every safer risk', (t) => {
  fc.assert(
    fc.property(channels, (start) => {
      const path: string[] = [];
      for (let next = fallback(start); next !== null;) {
        path.push(next);
        const read = parseChannel(next);
        if (read === undefined) throw new Error(`cannot read ${next}`);
        next = fallback(read);
      }
      const safer = risks.slice(0, risks.indexOf(start.risk)).reverse();
      const expected = [...(start.branch === null ? [] : [start.risk]), ...safer].map(
        (risk) => `${start.track}/${risk}`,
      );
      t.same(path, expected);
    }),
    { numRuns: 200 },
  );
  t.end();
});
