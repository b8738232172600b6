// Releases of larder are verified with the keys of the installed one. Tampered, mixed, older and renamed ones are refused.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { releaseFingerprint } from '#transfers/larder-release/manifest.ts';
import { builtInKeys, followRotations } from '#transfers/larder-release/release-keys.ts';
import { verifyRelease, type ReleaseVerification } from '#transfers/larder-release/verify-release.ts';
import { folder } from '#test/cli/process.ts';
import { seenByMac } from '../desktop.ts';
import { keysOf, makeRelease, newSigner, rotateReleaseKeys } from './releases.ts';

const place = folder(t);
const signer = newSigner(place);
const other = newSigner(place, 'other');
const trusted = keysOf(signer);
const release = makeRelease(place, signer);
const verify = (path: string, more: Partial<ReleaseVerification> = {}) =>
  verifyRelease(path, { trusted, installed: '1.1.9', ...more });

/** The sentence of the refusal; the test fails if the release is accepted. */
const refusal = (path: string, more: Partial<ReleaseVerification> = {}): Promise<string> =>
  verify(path, more).then(
    ({ manifest }) => `accepted ${manifest.version}`,
    (error: unknown) => (error as Error).message,
  );

t.test('a genuine release is accepted, by the keys of the installed one or by the fingerprint', async (t) => {
  const fingerprint = releaseFingerprint(signer.publicKey);
  t.match(await verify(release), {
    manifest: { version: '1.2.0', released: '2026-03-01' },
    fingerprints: [fingerprint],
  });
  t.match(await verify(release, { trusted: { fingerprint } }), { manifest: { version: '1.2.0' } });
  t.match(await verify(release, { installed: '1.2.0' }), { manifest: { version: '1.2.0' } }, 'the installed one too');
  t.match(
    await refusal(release, { trusted: { fingerprint: 'SHA256:other' } }),
    /signed with the key SHA256:.* another/,
  );
});

t.test('a release on a stick that a Mac has seen is verified as if it had not', async (t) => {
  const copy = join(place, 'seen');
  cpSync(release, copy, { recursive: true });
  seenByMac(copy);
  t.equal(await refusal(copy), 'accepted 1.2.0');
  writeFileSync(join(copy, '._other'), 'no file of a desktop');
  t.match(await refusal(copy), /do not belong to it: \._other/);
});

t.test('a release of a day far ahead of the clock is accepted, because signatures do not expire', async (t) => {
  t.match(await verify(makeRelease(place, signer, { day: '2099-01-01' })), { manifest: { released: '2099-01-01' } });
});

t.test('an older release is refused unless it is asked for', async (t) => {
  for (const installed of ['1.2.1', '1.10.0', '2.0.0'])
    t.match(await refusal(release, { installed }), /release 1\.2\.0, older than the installed/);
  t.match(await verify(release, { installed: undefined }), { manifest: { version: '1.2.0' } });
});

t.test('a build without release keys verifies nothing', async (t) => {
  t.same(builtInKeys().keys, [], 'the repository has none');
  t.match(await refusal(release, { trusted: builtInKeys() }), /no release keys, because it was built without them/);
});

t.test('keys are rotated by the key before, and withdrawn keys count no more', async (t) => {
  const first = await rotateReleaseKeys(trusted, signer, other.publicKey);
  const third = newSigner(place, 'third');
  const second = await rotateReleaseKeys(first.keys, other, third.publicKey);
  const rotations = [first.statement, second.statement];
  const rotated = makeRelease(place, third, { version: '1.3.0', rotations });
  t.match(await verify(rotated), { manifest: { version: '1.3.0' } }, 'over two rotations at once');
  t.match(await verify(rotated, { trusted: first.keys }), { manifest: { version: '1.3.0' } });
  t.match(await verify(rotated, { trusted: second.keys }), { manifest: { version: '1.3.0' } });
  t.match(await refusal(makeRelease(place, third, { version: '1.3.1' })), /not signed with a release key/);
  t.match(await refusal(release, { trusted: first.keys }), /a release key that was withdrawn/);
  const stolen = makeRelease(place, signer, { version: '1.3.2', rotations });
  t.match(await refusal(stolen), /a release key that was withdrawn/, 'the old key signs nothing after its rotation');
  const { statement: forged } = await rotateReleaseKeys(keysOf(other), other, other.publicKey);
  t.throws(() => followRotations(trusted, [forged]), /not signed by the release keys before it/);
  t.throws(() => followRotations(trusted, [second.statement]), /number 2 is not signed/, 'one is left out');
  t.throws(() => followRotations(trusted, ['{}']), /not a valid one/);
});

/** Each change of a copy of the release; the name says which one. */
function tampering(): [string, (path: string) => void][] {
  const names = readdirSync(release).sort();
  const newer = makeRelease(place, signer, { version: '1.2.1' });
  const again = makeRelease(place, signer, { day: '2026-03-02' });
  const foreign = makeRelease(place, other, { day: '2026-03-03' });
  const flip = (file: string, at: number): void => {
    const bytes = readFileSync(file);
    bytes[at % bytes.length]! ^= 1;
    writeFileSync(file, bytes);
  };
  const each = (label: string, change: (file: string) => void): [string, (path: string) => void][] =>
    names.map((name) => [`${name}: ${label}`, (path) => change(join(path, name))]);
  return [
    ...each('a flipped bit', (file) => flip(file, 7)),
    ...each('another flipped bit', (file) => flip(file, 31)),
    ...each('truncated', (file) => truncateSync(file, 5)),
    ...each('empty', (file) => truncateSync(file, 0)),
    ...each('longer', (file) => writeFileSync(file, '\n', { flag: 'a' })),
    ...each('missing', (file) => rmSync(file)),
    ...each('renamed', (file) => renameSync(file, `${file}.old`)),
    ...each('a second one', (file) => copyFileSync(file, `${file}~`)),
    ...each('a link', (file) => {
      renameSync(file, `${path(file)}.kept`);
      symlinkSync(`${path(file)}.kept`, file);
    }),
    ...each('a folder', (file) => {
      rmSync(file);
      mkdirSync(file);
    }),
    ...each('of a release of another day', (file) => copyFileSync(join(again, path(file, '')), file)),
    ...names
      .filter((name) => !name.includes('1.2.0'))
      .map((name): [string, (path: string) => void] => [
        `${name} of the next release`,
        (to) => copyFileSync(join(newer, name), join(to, name)),
      ]),
    ['the signatures of another key', (to) => proofOf(foreign, to)],
    ['manifest and signatures of the next release', (to) => proofOf(newer, to)],
    ['the first half', (to) => names.slice(names.length / 2).forEach((name) => rmSync(join(to, name)))],
    ['the second half', (to) => names.slice(0, names.length / 2).forEach((name) => rmSync(join(to, name)))],
    ['a pipe', (to) => void execFileSync('mkfifo', [join(to, 'pipe')])],
  ];
}

/** The name of a file in its folder, below a folder. */
const path = (file: string, below = `${place}/`): string => `${below}${file.slice(file.lastIndexOf('/') + 1)}`;

function proofOf(from: string, to: string): void {
  for (const name of ['manifest.json', 'manifest.json.sig', 'manifest.json.signatures'])
    copyFileSync(join(from, name), join(to, name));
}

t.test('of more than 100 tampered releases none is accepted', async (t) => {
  const changes = tampering();
  t.ok(changes.length >= 100, String(changes.length));
  for (const [label, change] of changes) {
    const copy = join(place, 'copy');
    cpSync(release, copy, { recursive: true });
    t.match(await refusal(copy), /^accepted 1\.2\.0$/, 'before the change');
    change(copy);
    t.match(await refusal(copy), /^(?!accepted)[A-Z].*[.]$/i, label);
    rmSync(copy, { recursive: true });
  }
});
