// The reading of texts in a review, compared with that of devices: the library of snapd. Needs Go and the library as
// Debian packages. whole-snaps.tools.test.ts does the same for snaps.
import t, { type Test } from 'tap';

import { readSnapYaml } from '#review/snaps/snap-yaml.ts';
import { Faults } from '#review/snap-rules/fields.ts';
import { readModel, type DuplicateKeys } from '#review/snap-rules/model.ts';
import { checkRules } from '#review/snap-rules/rules.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { readTypedYaml, type TypedYaml } from '#review/yaml.ts';
import { buildSnapJudge, snapJudgeMissing, type SnapAnswer } from '#test/assertions/judge.ts';
import { snapYamlTexts } from './snap-yaml-arbitrary.ts';
import { newerRules } from './snapd-exceptions.ts';
import { snapYamls } from './snap-yaml-texts.ts';
import { yamlTexts } from './yaml-texts.ts';

const absent = snapJudgeMissing();
const skip =
  absent.length > 0 && `snapd does not judge here: apt-get install --no-install-recommends ${absent.join(' ')}`;
t.setTimeout(600_000);
const judge = skip === false ? buildSnapJudge() : () => [];

/** A value in the format of the reference program. */
function judged(value: TypedYaml): unknown {
  if (value === null) return null;
  if (typeof value === 'string') return { text: value, type: 'text' };
  if (Array.isArray(value)) return value.map(judged);
  if (!(value instanceof Map)) return { text: value.text, type: value.type };
  const members = new Map([...value].map(([key, member]) => [keyText(key), judged(member)]));
  const pairs = [...members].sort(([first], [other]) => (String(first) < String(other) ? -1 : 1));
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
  return { mapping: pairs.sort(([first], [other]) => (String(first) < String(other) ? -1 : 1)) };
}

/** The permitted differences of the two. */
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

/** Compares our refusals with those of the reference. */
function compare(t: Test, names: readonly string[], own: (string | undefined)[], answers: SnapAnswer[]): void {
  let [accepted, excepted] = [0, 0];
  for (const [at, name] of names.entries()) {
    const [mine, { error }] = [own[at], answers[at]!];
    if (error === undefined) accepted++;
    if ((mine === undefined) === (error === undefined)) continue;
    if (newerRules.some(({ shows }) => shows.test(mine ?? '') || shows.test(error ?? ''))) excepted++;
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
