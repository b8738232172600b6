// Small releases of larder with keys of the test: each file is a few words.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { LarderReleaseKeys } from '#contract/wire.ts';
import { filesOfRelease } from '#transfers/larder-release/manifest.ts';
import { writeRelease } from '../../../packaging/release-folder.ts';
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
}

/** Writes a release into a new folder, and returns the folder. */
export function makeRelease(
  place: string,
  signer: ReleaseSigner,
  { version = '1.2.0', day = '2026-03-01', rotations = [] }: ReleaseOptions = {},
): string {
  const folder = join(place, `larder-${version}-${day}-${String(rotations.length)}`);
  const names = filesOfRelease(version).filter((name) => !name.endsWith('.intoto.json'));
  const files = new Map(names.map((name) => [name, Buffer.from(`the bytes of ${name} of ${version}, ${day}`)]));
  const about = { version, commit: '6f'.repeat(20), at: new Date(`${day}T00:00:00Z`), files, rotations };
  writeRelease(folder, about, signer, (subjects) => JSON.stringify(subjects));
  return folder;
}

export { rotateReleaseKeys };
