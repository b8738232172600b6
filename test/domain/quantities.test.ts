// Counts and durations as people read them: the singular for one, and a unit that fits at least once.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { days, hours, minutes, seconds } from '#domain/clock.ts';
import { formatCount, formatDistance, formatDuration } from '#domain/quantities.ts';

t.test('one of a thing is in the singular, and each other number in the plural', async (t) => {
  const counts = [0, 1, 2, 11, 101];
  t.strictSame(
    counts.map((count) => formatCount(count, 'name')),
    ['0 names', '1 name', '2 names', '11 names', '101 names'],
  );
  t.equal(formatCount(1, 'entry', 'entries'), '1 entry');
  t.equal(formatCount(2, 'entry', 'entries'), '2 entries');
});

t.test('a duration is in the largest unit that fits at least once, so nothing was 0 hours ago', async (t) => {
  const now = new Date('2026-03-01T12:00:00Z');
  const at = (distance: number): string => formatDistance(new Date(now.getTime() - distance).toISOString(), now);
  for (const [unit, length] of [
    ['second', seconds(1)],
    ['minute', minutes(1)],
    ['hour', hours(1)],
    ['day', days(1)],
  ] as const) {
    t.equal(at(length), `1 ${unit} ago`);
    t.equal(at(-length), `in 1 ${unit}`);
    t.equal(at(2 * length), `2 ${unit}s ago`);
    t.notMatch(at(length - 1), new RegExp(unit), 'one less is in a smaller unit');
  }
  for (const shorter of [0, 999, -999]) t.equal(at(shorter), 'now');
  t.equal(formatDuration(days(365)), '365 days');
});

/** Things that texts for people count. */
const counted =
  'accounts|approvals|assertions|backups|blobs|changes|channels|contents|devices|entries|failures|feeds|files|hours|images|keys|lines|' +
  'manifests|minutes|notices|packages|parts|problems|proposals|releases|revisions|rows|slots|snaps|tokens|transfers|uploads';
const inPlural = new RegExp(String.raw`\$\{[^{}]*\} (?:more |sealed |waiting )?(?:${counted})\b`);
/** A line with another number than one: a limit, or behind a question for one. */
const isNeverOne =
  /max[A-Z]|limits?\b|more than|at most|[=!>]=* 1\b|isOne|names\b|units\b|Math\.ceil|rows for| of \$\{(?:String|count)\([\w.]+\)\} \w+/;

t.test('no text says a plural beside a number that can be one', async (t) => {
  const source = join(import.meta.dirname, '../../src');
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.startsWith('contract/')) continue;
    for (const [at, line] of readFileSync(join(source, file), 'utf8').split('\n').entries())
      if (inPlural.test(line) && !isNeverOne.test(line))
        t.fail(`${file}:${String(at + 1)}: use formatCount: ${line.trim()}`);
  }
});
