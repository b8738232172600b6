// dpkg itself, and its library for Perl, order versions as the store does.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import fc from 'fast-check';
import t from 'tap';

import { compareDpkgVersions, parseDpkgVersion } from '#domain/vulnerabilities/dpkg-version.ts';
import { withoutPackages, withoutPrograms } from '#test/fixtures/programs.ts';
import { long } from '#test/review/packed.ts';
import { dpkgVersions } from './version-arbitrary.ts';

const anyText = fc
  .array(fc.constantFrom(...'0 1 9 a z ~ + - . : _ !'.split(' '), ' '), { maxLength: 6 })
  .map((signs) => signs.join(''));
const sample = <Value>(values: fc.Arbitrary<Value>, numRuns: number): Value[] =>
  fc.sample(values, { numRuns, seed: 3 });

/** `<`, `=` or `>`; `!` if one of them has no order. */
function orderOf(version: string, other: string): string {
  const [parsed, otherParsed] = [parseDpkgVersion(version), parseDpkgVersion(other)];
  if (parsed === undefined || otherParsed === undefined) return '!';
  return '<=>'[1 + compareDpkgVersions(parsed, otherParsed)]!;
}

/** The pairs for which a program, which reads a pair per line, says something else. */
function differing(pairs: [string, string][], command: string, args: string[]): string[] {
  const input = pairs.map((pair) => `${pair.join('\t')}\n`).join('');
  const { stdout, status } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${command} ended with ${String(status)}`);
  const answers = stdout.trimEnd().split('\n');
  if (answers.length !== pairs.length) throw new Error(`${command} gave ${String(answers.length)} answers`);
  return pairs.flatMap(([version, other], at) => {
    const own = orderOf(version, other);
    return own === answers[at] ? [] : [`${version} ${own} ${other}, not ${answers[at]!}`];
  });
}

t.test(
  'dpkg orders versions, and refuses texts, as the store does',
  { skip: withoutPrograms('dpkg-deb') },
  async (t) => {
    const script = `tab="$(printf '\\t')"
while IFS="$tab" read -r a b; do
  answer='!'
  if dpkg --compare-versions "$a" eq "$a" 2>/dev/null && dpkg --compare-versions "$b" eq "$b" 2>/dev/null; then
    if dpkg --compare-versions "$a" lt "$b" 2>/dev/null; then answer='<'
    elif dpkg --compare-versions "$a" gt "$b" 2>/dev/null; then answer='>'
    else answer='='; fi
  fi
  echo "$answer"
done`;
    // A text that begins with a hyphen would be an option, and the shell drops spaces at both ends.
    const texts = anyText.filter((text) => text !== '' && !text.startsWith('-') && text.trim() === text);
    const pairs = [
      ...sample(fc.tuple(dpkgVersions, dpkgVersions), long ? 3000 : 150),
      ...sample(fc.tuple(texts, texts), long ? 3000 : 150),
    ];
    t.same(differing(pairs, 'sh', ['-c', script]), []);
  },
);

const withoutPerl = existsSync('/usr/share/perl5/Dpkg/Version.pm') ? false : withoutPackages('libdpkg-perl');

t.test('the library of dpkg orders very many versions as the store does', { skip: withoutPerl }, async (t) => {
  const script =
    'use Dpkg::Version; while (<STDIN>) { chomp; my ($a, $b) = split /\\t/; ' +
    'print qw(< = >)[1 + (Dpkg::Version->new($a) <=> Dpkg::Version->new($b))], qq(\\n); }';
  const pairs = sample(fc.tuple(dpkgVersions, dpkgVersions), long ? 100_000 : 20_000);
  t.same(differing(pairs, 'perl', ['-e', script]).slice(0, 10), []);
  const orders = pairs.map(([version, other]) => orderOf(version, other));
  t.same([...new Set(orders)].sort(), ['<', '=', '>'], 'every result is among them');
});
