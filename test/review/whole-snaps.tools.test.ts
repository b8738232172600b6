// Whole snaps get the same verdict from the review as from a device, that is the snapd library of Debian: every
// fixture, and 2,000 random mixtures. LARDER_LONG=1 uses ten times as many. Needs Go, the library and unsquashfs as
// Debian packages.
import t, { type Test } from 'tap';

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createReviewer } from '#review/reviewer.ts';
import type { SnapFacts, ReviewVerdict } from '#review/verdict.ts';
import { readEpoch } from '#domain/revisions/epoch.ts';
import { startWorker } from '#platform/embedded.ts';
import { buildSnapJudge, snapJudgeMissing, type SnapAnswer } from '#test/assertions/judge.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { expected, snapNames, snapPath } from './fixtures.ts';
import { long } from './packed.ts';
import { fileRules, newerRules, type SnapdException } from './snapd-exceptions.ts';
import { wholeSnaps, type GeneratedSnap } from './whole-snap-arbitrary.ts';

const absent = snapJudgeMissing();
const skip =
  (absent.length > 0 && `snapd does not judge here: apt-get install --no-install-recommends ${absent.join(' ')}`) ||
  withoutPrograms('unsquashfs');
t.setTimeout(1_200_000);

const judge = skip === false ? buildSnapJudge() : () => [];
const { review, close } = createReviewer({ startWorker: (options) => startWorker('src/review/worker.ts', options) });
t.teardown(close);

/** The metadata of an accepted snap, in one form for both. */
function factsOf(facts: SnapFacts): Record<string, unknown> {
  const { name, version, type, base, architectures, confinement, title, summary, description, license, apps } = facts;
  const texts = { base, title, summary, description, license };
  return {
    ...Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text ?? ''])),
    name,
    version,
    type,
    confinement,
    architectures: [...new Set(architectures)],
    epoch: readEpoch(facts.epoch === null || !facts.epoch.startsWith('{') ? facts.epoch : JSON.parse(facts.epoch)),
    apps: [...apps].sort(),
  };
}

const answeredFacts = (value: unknown): Record<string, unknown> => {
  const facts = value as Record<string, unknown> & { architectures: string[] };
  return { ...facts, architectures: [...new Set(facts.architectures)] };
};

/** How the two differ; undefined if they agree. */
function difference(verdict: ReviewVerdict, { error, value }: SnapAnswer): string | undefined {
  const sentences = verdict.approved ? [] : verdict.errors.map(({ message }) => message);
  if (error !== undefined) return verdict.approved ? `a device refuses it: ${error}` : undefined;
  if (!verdict.approved) return `a device takes it, the review does not: ${sentences.join(' ')}`;
  if (verdict.kind !== 'snap') return `it was read as a ${verdict.kind}`;
  const [own, other] = [factsOf(verdict.facts), answeredFacts(value)];
  const keys = [...new Set([...Object.keys(own), ...Object.keys(other)])];
  const wrong = keys.filter((key) => JSON.stringify(own[key]) !== JSON.stringify(other[key]));
  if (wrong.length === 0) return undefined;
  return wrong
    .map((key) => `${key}: ${JSON.stringify(own[key])}, on a device ${JSON.stringify(other[key])}`)
    .join('; ');
}

/** The exceptions that explain a difference: of every refusal of the review, or of the refusal of a device. */
function exceptionsFor(
  snap: GeneratedSnap,
  verdict: ReviewVerdict,
  { error = '' }: SnapAnswer,
): SnapdException[] | undefined {
  const messages = verdict.approved ? [error] : verdict.errors.map(({ message }) => message);
  const explained = messages.map((text) =>
    [...newerRules, ...fileRules].find(({ shows, applies = () => true }) => shows.test(text) && applies(snap)),
  );
  return explained.every((exception) => exception !== undefined) ? explained : undefined;
}

t.test('every snap among the fixtures gets the verdict of a device', { skip }, async (t) => {
  const answers = judge(snapNames.map((name) => ({ kind: 'snap', path: snapPath(name) })));
  for (const [at, name] of snapNames.entries()) {
    const verdict = await review({
      kind: 'snap',
      path: snapPath(name),
      name: expected[name]?.fields?.name ?? 'tiny-app',
    });
    t.equal(difference(verdict, answers[at]!), undefined, name);
  }
});

const nameIn = ({ tree }: GeneratedSnap): string => {
  const yaml = tree['meta/snap.yaml'];
  const text = typeof yaml === 'object' && 'kind' in yaml ? String(yaml.content) : '';
  return /^\ufeff?name: "?([^"\r\n]*)/m.exec(text)?.[1] ?? 'harbour';
};

async function compareSnaps(t: Test, snaps: readonly GeneratedSnap[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'larder-whole-snaps-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  const paths = snaps.map((_, at) => join(folder, `${String(at)}.snap`));
  for (const [at, { tree }] of snaps.entries()) writeFileSync(paths[at]!, squashfsImage(tree));
  const answers = judge(paths.map((path) => ({ kind: 'snap', path })));
  let accepted = 0;
  const excepted = new Map<string, number>();
  for (const [at, snap] of snaps.entries()) {
    const answer = answers[at]!;
    const verdict = await review({ kind: 'snap', path: paths[at]!, name: nameIn(snap) });
    if (answer.error === undefined) accepted++;
    const problem = difference(verdict, answer);
    if (problem === undefined) continue;
    const exceptions = exceptionsFor(snap, verdict, answer);
    if (exceptions === undefined)
      t.fail(`${problem}\n${JSON.stringify([at, snap.oddities, snap.tree['meta/snap.yaml']])}`);
    for (const { why: reason } of exceptions ?? []) excepted.set(reason, (excepted.get(reason) ?? 0) + 1);
  }
  t.comment(`${String(accepted)} of ${String(snaps.length)} snaps are taken by a device; exceptions:`);
  for (const [reason, count] of excepted) t.comment(`${String(count)}: ${reason}`);
  t.ok(accepted > snaps.length / 4 && accepted < (snaps.length * 3) / 4, `${String(accepted)} are taken by a device`);
  const sum = [...excepted.values()].reduce((all, count) => all + count, 0);
  t.ok(sum < snaps.length / 15, `${String(sum)} exceptions`);
}

t.test('randomly mixed snaps get the verdict of a device', { skip }, async (t) => {
  await compareSnaps(t, wholeSnaps(long ? 20_000 : 2000, 5));
});
