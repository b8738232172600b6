// What a review reads, held against what devices read: snapd's own library. Needs Go and the library as Debian packages.
import t, { type Test } from 'tap';

import { openSync, closeSync, chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import fc from 'fast-check';

import { readSnap } from '#review/snap.ts';
import { readSnapYaml } from '#review/snap-yaml.ts';
import { Faults } from '#review/snap-rules/fields.ts';
import { readModel, type DuplicateKeys } from '#review/snap-rules/model.ts';
import { checkRules } from '#review/snap-rules/rules.ts';
import { fileSource } from '#review/squashfs/source.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { readTypedYaml, type TypedYaml } from '#review/yaml.ts';
import { buildSnapJudge, snapJudgeMissing, type SnapAnswer } from '#test/assertions/judge.ts';
import { expected, snapNames, snapPath } from './fixtures.ts';
import { withoutSquashfsTools } from './mksquashfs.ts';
import { snapYamlTexts } from './snap-yaml-arbitrary.ts';
import { snapYamls } from './snap-yaml-texts.ts';
import { yamlTexts } from './yaml-texts.ts';

const absent = snapJudgeMissing();
const skip =
  absent.length > 0 && `snapd does not judge here: apt-get install --no-install-recommends ${absent.join(' ')}`;
t.setTimeout(600_000);
const judge = skip === false ? buildSnapJudge() : () => [];

/** A value in the form in which the judge writes it. */
function judged(value: TypedYaml): unknown {
  if (value === null) return null;
  if (typeof value === 'string') return { text: value, type: 'text' };
  if (Array.isArray(value)) return value.map(judged);
  if (!(value instanceof Map)) return { text: value.text, type: value.type };
  const members = new Map([...value].map(([key, member]) => [keyText(key), judged(member)]));
  const pairs = [...members].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  return { mapping: pairs };
}

const keyText = (key: TypedYaml): string | null => {
  if (key === null || typeof key === 'string') return key;
  return 'text' in key ? key.text : 'a collection';
};

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || !('mapping' in value)) return value;
  const pairs = (value.mapping as [string | null, unknown][]).map(([key, member]) => [key, sorted(member)] as const);
  return { mapping: pairs.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)) };
}

/** Where the two may differ. */
const exceptions: [why: string, applies: (text: string, answer: SnapAnswer) => boolean][] = [
  [
    'the judge takes a quoted null for null where it asks for no type',
    (text) => /["'|>~]|null/.test(text) && /~|null/i.test(text),
  ],
  ['a device ends the document behind an empty flow collection', (text) => /\[\s*\]|\{\s*\}/.test(text)],
  ['the judge does not look into collections that are keys', (text) => /\?|\[|\{/.test(text) && text.includes('<<')],
  ['the judge counts aliases twice', (_, { error }) => error?.includes('excessive aliasing') === true],
];

t.test('YAML is read as a device reads it', { skip }, async (t) => {
  const texts = [...snapYamls, ...yamlTexts(snapYamls, 20_000, 7)];
  const answers = judge(texts.map((text) => ({ kind: 'yaml', text })));
  let [accepted, excepted] = [0, 0];
  for (const [at, text] of texts.entries()) {
    const answer = answers[at]!;
    const own = ownReading(text);
    const same =
      answer.error === undefined
        ? JSON.stringify(sorted(answer.value ?? null)) === JSON.stringify(own.value)
        : own.error !== undefined;
    if (answer.error === undefined) accepted++;
    if (same) continue;
    if (exceptions.some(([, applies]) => applies(text, answer))) excepted++;
    else t.same(own, answer, encodeURI(text));
  }
  t.comment(`${texts.length} texts, ${accepted} of them YAML, ${excepted} exceptions`);
  t.ok(accepted > texts.length / 4 && accepted < (texts.length * 3) / 4, `${accepted} are YAML`);
  t.ok(excepted < texts.length / 1000, `${excepted} exceptions`);
});

function ownReading(text: string): { value?: unknown; error?: string } {
  try {
    return { value: sorted(judged(readTypedYaml(text, 'x.yaml'))) };
  } catch (error) {
    if (error instanceof Unacceptable) return { error: error.message };
    throw error;
  }
}

/** Why a snap.yaml is refused; undefined if it is taken. */
function refusalOf(text: string): string | undefined {
  return refusalIn(() => {
    const faults = new Faults();
    const duplicates: DuplicateKeys = new WeakMap();
    const document = readTypedYaml(text, 'meta/snap.yaml', duplicates);
    if (!(document instanceof Map)) throw new Unacceptable('meta/snap.yaml must be a mapping.');
    const model = readModel(document, duplicates, faults);
    checkRules(model, [], faults);
    readSnapYaml(text, model.name, { refusals: faults.sentences });
  });
}

function refusalIn(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Unacceptable) return error.message;
    throw error;
  }
}

/** Rules that snapd has got since the library that judges here (2.57.6), each with the sentence or the refusal that shows it. */
const newer: [why: string, shows: RegExp][] = [
  ['components are of 2.63 and newer', /^(?:Each of the 'components'|The component '.*') /],
  ['no hook configure on bases and snapd (2.58)', /^A snap of type \w+ cannot have a hook '(?:default-)?configure'/],
  ['default-configure needs configure (2.59)', /^A hook 'default-configure' needs/],
  ['success-exit-status (2.64)', /success-exit-status/],
  ['layouts over /var/run and below /usr/lib (2.61)', /^The layout '\/(?:var\/run|usr\/lib).* where none is allowed/],
  ['classic snaps need no network-bind (2.66)', /"network-bind" interface plug is required/],
  ['system usernames between underscores (2.61)', /invalid system username "_/],
  ['grades are read (2.72)', /^The grade /],
];

/** Holds what is refused here against what the judge refuses. */
function compare(t: Test, names: readonly string[], own: (string | undefined)[], answers: SnapAnswer[]): void {
  let [accepted, excepted] = [0, 0];
  for (const [at, name] of names.entries()) {
    const [mine, { error }] = [own[at], answers[at]!];
    if (error === undefined) accepted++;
    if ((mine === undefined) === (error === undefined)) continue;
    if (newer.some(([, shows]) => shows.test(mine ?? '') || shows.test(error ?? ''))) excepted++;
    else t.fail(`${name}: a device says ${error ?? 'yes'}, the review ${mine ?? 'yes'}`);
  }
  t.ok(accepted > names.length / 5 && accepted < (names.length * 4) / 5, `${accepted} of ${names.length} are taken`);
  t.ok(excepted < names.length / 50, `${excepted} are judged by newer rules`);
}

t.test('a snap.yaml is refused when a device would refuse it', { skip }, async (t) => {
  const texts = [...snapYamls, ...snapYamlTexts(4000, 11)];
  const answers = judge(texts.map((text) => ({ kind: 'snap.yaml', text })));
  compare(t, texts.map(encodeURI), texts.map(refusalOf), answers);
});

/** A file system: paths with their modes, a missing mode for a link, and what apps a snap has. */
interface Packed {
  yaml: string;
  modes: Record<string, number>;
}

const files = [
  'bin/run',
  'bin/daemon',
  'usr/bin/other',
  'meta/gui/icon.png',
  'meta/hooks/install',
  'meta/hooks/readme',
  'data/x',
];
const folders = ['bin', 'usr', 'usr/bin', 'meta', 'meta/gui', 'meta/hooks', 'data'];
const appLines = [
  'run: {command: bin/run --all}',
  'daemon: {command: bin/daemon, daemon: simple, stop-command: bin/run}',
  'other: {command: /usr/bin/other, completer: data/x}',
  'gone: {command: bin/gone}',
  'out: {command: ../x}',
  'top: {command: data}',
];
const places = [...files, ...folders, '.', 'meta/snap.yaml'];
const oddModes = [0o600, 0o644, 0o700, 0o711, 0o555, 0o444, 0o111, 0o750, 0o754];
const isRun = (path: string) => /(?:hooks|bin)\//.test(path) || !path.includes('.') || path === '.';
const packed: fc.Arbitrary<Packed> = fc
  .record({
    apps: fc.oneof(
      { weight: 5, arbitrary: fc.subarray(appLines.slice(0, 3)) },
      { weight: 1, arbitrary: fc.subarray(appLines) },
    ),
    base: fc.constantFrom('core22', 'core22', 'core22', 'none'),
    absent: fc.constantFrom('', '', '', ...files),
    odd: fc.array(fc.tuple(fc.constantFrom(...places), fc.constantFrom(...oddModes)), { maxLength: 2 }),
  })
  .map(({ apps, base, absent, odd }) => {
    const modes = new Map([...places.map((path) => [path, isRun(path) ? 0o755 : 0o644] as const), ...odd]);
    modes.delete(absent);
    return {
      yaml: `name: harbour\nversion: 1\nbase: ${base}\napps: {${apps.join(', ')}}\n`,
      modes: Object.fromEntries(modes),
    };
  });

function makeSnap(folder: string, { yaml, modes }: Packed): string {
  mkdirSync(folder);
  for (const path of folders) mkdirSync(join(folder, path), { recursive: true });
  for (const path of Object.keys(modes)) {
    if (path === '.' || folders.includes(path)) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), path === 'meta/snap.yaml' ? yaml : 'x');
  }
  symlinkSync('bin/run', join(folder, 'link'));
  for (const [path, bits] of Object.entries(modes)) chmodSync(join(folder, path), bits);
  const image = `${folder}.snap`;
  execFileSync('mksquashfs', [folder, image, '-noappend', '-no-progress', '-quiet', '-comp', 'lzo'], { stdio: 'pipe' });
  return image;
}

function refusalOfFile(path: string, name: string): string | undefined {
  const file = openSync(path, 'r');
  try {
    return refusalIn(() => readSnap(fileSource(file), name));
  } finally {
    closeSync(file);
  }
}

t.test(
  'the files of a snap are refused when a device would refuse them',
  { skip: skip || withoutSquashfsTools },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'larder-modes-'));
    t.teardown(() => {
      rmSync(folder, { recursive: true });
    });
    const snaps = fc.sample(packed, { numRuns: 250, seed: 3 });
    const paths = snaps.map((snap, at) => makeSnap(join(folder, String(at)), snap));
    const answers = judge(paths.map((path) => ({ kind: 'snap', path })));
    compare(
      t,
      snaps.map((snap) => JSON.stringify(snap)),
      paths.map((path) => refusalOfFile(path, 'harbour')),
      answers,
    );
  },
);

t.test('the snaps of the tests are judged alike', { skip: skip || withoutSquashfsTools }, async (t) => {
  const answers = judge(snapNames.map((name) => ({ kind: 'snap', path: snapPath(name) })));
  for (const [at, name] of snapNames.entries()) {
    const mine = refusalOfFile(snapPath(name), expected[name]?.fields?.name ?? 'tiny-app');
    t.equal(mine === undefined, answers[at]!.error === undefined, `${name}: ${answers[at]!.error ?? ''} ${mine ?? ''}`);
  }
});
