// Writes the file of the release keys that executables embed, and the statements of their rotations.
//
//   node packaging/release-keys.ts --key FILE                             prints the first file, for LARDER_RELEASE_KEYS
//   node packaging/release-keys.ts --key FILE --keys FILE --next PUBLIC   replaces the keys in the file by a public key (PEM), and writes
//                                                                         rotation-N.json beside it, signed with the old key
//
// --signer PROGRAM in place of --key takes the key manager.
import { createPublicKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { readReleaseKeys } from '#transfers/larder-release/release-keys.ts';
import { releaseFingerprint, rotationFile } from '#transfers/larder-release/manifest.ts';
import { publicKeyOf, rotateReleaseKeys, signerOf } from './release-signer.ts';

const { values } = parseArgs({
  options: {
    key: { type: 'string' },
    signer: { type: 'string' },
    keys: { type: 'string' },
    next: { type: 'string' },
  },
});
const signer = signerOf(values);
const serialize = (keys: object): string => `${JSON.stringify(keys, undefined, 2)}\n`;

if (values.keys === undefined || values.next === undefined) {
  console.log(serialize({ site: 'larder', rotation: 0, threshold: 1, keys: [signer.publicKey], former: [] }).trimEnd());
  console.error(`Fingerprint for SECURITY.md and README.md: ${releaseFingerprint(signer.publicKey)}`);
} else {
  const next = publicKeyOf(createPublicKey(readFileSync(values.next)));
  const { statement, keys } = await rotateReleaseKeys(readReleaseKeys(readFileSync(values.keys, 'utf8')), signer, next);
  const file = join(dirname(values.keys), rotationFile(keys.rotation));
  writeFileSync(file, statement, { flag: 'wx' });
  writeFileSync(values.keys, serialize(keys));
  console.error(`${file}; fingerprint for SECURITY.md and README.md: ${releaseFingerprint(next)}`);
}
