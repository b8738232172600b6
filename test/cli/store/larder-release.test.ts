// larder release verify and install, by the fingerprint of a first installation.
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';

import t from 'tap';

import { releaseFingerprint } from '#transfers/larder-release/manifest.ts';
import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { makeRelease, newSigner } from '#test/transfers/larder-release/releases.ts';

const place = folder(t);
const signer = newSigner(place);
const trust = `--fingerprint ${releaseFingerprint(signer.publicKey)}`;

t.test('a release is verified, and its package is copied for one command', async (t) => {
  const release = makeRelease(place, signer);
  t.match(await larder(`release verify ${release} ${trust}`), {
    code: 0,
    out: /^Release 1\.2\.0 of 2026-03-01 is genuine: 9 files, signed with SHA256:\S+\.\n/,
  });
  const { code, out } = await larder(`release install ${release} ${trust} --json`);
  t.equal(code, 0);
  const { package: copy, command } = JSON.parse(out) as { package: string; command: string };
  t.teardown(() => rmSync(dirname(copy), { recursive: true }));
  t.equal(command, `apt install ${copy}`);
  t.match(readFileSync(copy, 'utf8'), /^the bytes of larder_1\.2\.0_(?:amd64|arm64)\.deb of 1\.2\.0/);
});

t.test('the keys of the installed release are needed without a fingerprint, and the repository has none', async (t) => {
  const { code, err } = await larder(`release verify ${makeRelease(place, signer, { version: '1.2.1' })}`);
  t.equal(code, 1);
  t.match(err, /cannot trust the release in .*This larder has no release keys.*Give the fingerprint/);
});

t.test('an older release needs --older, and the command then allows the downgrade', async (t) => {
  const release = makeRelease(place, signer, { version: '0.0.9' });
  t.match(await larder(`release install ${release} ${trust}`), { code: 1, err: /older than the installed/ });
  const { out } = await larder(`release install ${release} ${trust} --older`);
  t.match(out, /^apt install --allow-downgrades \S+\.deb\n$/);
  rmSync(dirname(/\S+\.deb/.exec(out)![0]), { recursive: true });
});

t.test('a tampered release leaves no copy, and a clock before the release is worth a remark', async (t) => {
  const release = makeRelease(place, signer, { version: '1.2.2', day: '2099-01-01' });
  t.match(await larder(`release verify ${release} ${trust}`), {
    code: 0,
    out: /The clock of this host says \d{4}-\d\d-\d\d, before the day of the release\. Check it\./,
  });
  for (const name of readdirSync(release).filter((file) => file.endsWith('.deb')))
    writeFileSync(join(release, name), 'x', { flag: 'a' });
  const copies = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('larder-release-'));
  const before = copies();
  t.match(await larder(`release install ${release} ${trust}`), { code: 1, err: /has another size/ });
  t.same(copies(), before);
  t.match(await larder(`release verify ${join(place, 'none')} ${trust}`), { code: 1, err: /cannot read/ });
  t.notOk(existsSync(join(place, 'none')));
});
