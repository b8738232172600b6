// Small releases of larder with keys of the test: each file is a few words.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { LarderReleaseKeys, LarderReleaseManifest, TransferLarderRelease } from '#contract/wire.ts';
import { filesOfRelease } from '#transfers/larder-release/manifest.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { writeRelease } from '../../../packaging/release-folder.ts';
import { folder } from '#test/cli/process.ts';
import { contentOf, example, goodNow, seedOf, written } from '../statement/example.ts';
import { rotateReleaseKeys, signerOf, type ReleaseSigner } from '../../../packaging/release-signer.ts';

/** A new release key in a file of the folder. */
export function newSigner(folder: string, name = 'release'): ReleaseSigner {
  const file = join(folder, `${name}.pem`);
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  return signerOf({ key: file });
}

export const keysOf = (...signers: ReleaseSigner[]): LarderReleaseKeys => ({
  site: 'larder',
  rotation: 0,
  threshold: 1,
  keys: signers.map(({ publicKey }) => publicKey),
  former: [],
});

interface ReleaseOptions {
  version?: string;
  day?: string;
  rotations?: readonly string[];
  /** The contents of some files, in place of a few words. */
  texts?: Readonly<Record<string, string>>;
}

/** Writes a release into a new folder, and returns the folder. */
export function makeRelease(
  place: string,
  signer: ReleaseSigner,
  { version = '1.2.0', day = '2026-03-01', rotations = [], texts = {} }: ReleaseOptions = {},
): string {
  const folder = join(place, `larder-${version}-${day}-${String(rotations.length)}`);
  const names = filesOfRelease(version).filter((name) => !name.endsWith('.intoto.json'));
  const files = new Map(
    names.map((name) => [name, Buffer.from(texts[name] ?? `the bytes of ${name} of ${version}, ${day}`)]),
  );
  const about = { version, commit: '6f'.repeat(20), at: new Date(`${day}T00:00:00Z`), files, rotations };
  writeRelease(folder, about, signer, (subjects) => JSON.stringify(subjects));
  return folder;
}

/** Builds these keys into the programs of this test until its end, and a bill of materials if there is one. */
export function buildIn(t: Parameters<typeof folder>[0], keys: LarderReleaseKeys, components?: object): void {
  const built = folder(t);
  writeFileSync(join(built, 'release-keys.json'), JSON.stringify(keys));
  if (components !== undefined) writeFileSync(join(built, 'components.json'), JSON.stringify(components));
  process.env['LARDER_BUILT'] = built;
  // Other files of tests run in this process.
  t.teardown(() => delete process.env['LARDER_BUILT']);
}

/** A transfer of a release, without the bytes of the file `absent`, by a source that verifies nothing, and the command that trusts the source. */
export async function forced(
  stick: string,
  release: string,
  change: (sent: TransferLarderRelease) => void = () => undefined,
  { absent, ...more }: { absent?: string; sequence?: number } = {},
): Promise<{ id: string; file: string; trust: string }> {
  const names = readdirSync(release).sort();
  const contents = new Map(names.map((name) => [name, readFileSync(join(release, name))]));
  const files = Array.from(contents, ([name, bytes]) => ({ name, content: contentOf(bytes) }));
  const { version, commit, released } = JSON.parse(contents.get('manifest.json')!.toString()) as LarderReleaseManifest;
  const sent: TransferLarderRelease = { version, ...(commit !== undefined && { commit }), released, files };
  change(sent);

  if (absent !== undefined) contents.delete(absent);
  const transfer = example([...contents.values()], {
    accounts: [],
    packages: [],
    'larder-releases': [sent],
    ...goodNow(),
    ...more,
  });
  mkdirSync(stick);
  const [file = ''] = await written(transfer, stick);
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  const trust = `site trust ${identity} --fingerprint ${fingerprintOf([publicKey]).join()}`;
  return { id: idOf(transfer.bytes), file, trust };
}

export { rotateReleaseKeys };
