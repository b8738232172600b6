// Builds a signed release into dist/release-VERSION: executables, Debian packages, image, bill of materials, statements, manifest.
//
//   node packaging/release.ts --key FILE        signs with a key in a file (PKCS #8, Ed25519)
//   node packaging/release.ts --signer PROGRAM  signs with a key manager (packaging/release-signer.ts)
//
// LARDER_RELEASE_KEYS names the file of the public keys that the executables embed. --rotation FILE, once for each, adds the statements
// that lead from the first key to the present one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import { readReleaseKeys } from '#transfers/larder-release/release-keys.ts';
import { releaseFingerprint } from '#transfers/larder-release/manifest.ts';
import { provenance, vexDocument } from './attest.ts';
import { nativeModule } from './build.ts';
import { release, root } from './bundle.ts';
import { dateOfRelease } from './changelog.ts';
import { commitOf } from './commit.ts';
import { ociImage, systemLibraries } from './oci.ts';
import { writeRelease, type ReleaseContent } from './release-folder.ts';
import { signerOf } from './release-signer.ts';
import type { Architecture } from './runtime.ts';
import { billOfMaterials } from './sbom.ts';
import { thirdParties } from './third-party.ts';

const { values } = parseArgs({
  options: {
    key: { type: 'string' },
    signer: { type: 'string' },
    rotation: { type: 'string', multiple: true, default: [] },
  },
});
const signer = signerOf(values);
const keysFile = process.env['LARDER_RELEASE_KEYS'];
if (keysFile === undefined || !readReleaseKeys(readFileSync(keysFile, 'utf8')).keys.includes(signer.publicKey))
  throw new Error('cannot sign: LARDER_RELEASE_KEYS must name a file that contains the public key of the signature');

const version = release();
const folder = join(root, 'dist', `release-${version}`);
if (existsSync(folder)) throw new Error(`cannot write ${folder}: it exists already. Remove it first.`);
const about = { version, commit: commitOf(root), at: dateOfRelease(version) };
if (about.commit === undefined)
  throw new Error('cannot sign: the sources are no commit. Commit the changes, or set LARDER_COMMIT.');
const architectures = [
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
] as const;
const files: ReleaseContent['files'] = new Map();
for (const [arch, name] of architectures) {
  const script = join(root, 'packaging/deb.ts');
  execFileSync(process.execPath, [script, '--arch', arch], { cwd: root, stdio: 'inherit' });
  files.set(`larder-${version}-${name}`, { from: executableOf(arch) });
  files.set(`larder_${version}_${name}.deb`, { from: join(root, `dist/larder_${version}_${name}.deb`) });
}
const platforms = architectures.map(([arch, architecture]) => ({
  architecture,
  libraries: systemLibraries(architecture),
  program: { 'usr/bin/larder': executableOf(arch), 'usr/lib/larder/better_sqlite3.node': nativeModule(arch) },
}));
files.set(`larder-${version}.oci.tar`, ociImage({ ...about, platforms }));
files.set(`larder-${version}.cdx.json`, Buffer.from(billOfMaterials(about, thirdParties('x64'))));
files.set(`larder-${version}.openvex.json`, Buffer.from(vexDocument(about)));
files.set('CHANGELOG.md', { from: join(root, 'CHANGELOG.md') });
const rotations = values.rotation.map((file) => readFileSync(file, 'utf8'));
writeRelease(folder, { ...about, files, rotations }, signer, (subjects) => provenance(about, subjects));
console.log(`${relative(root, folder)}: signed with ${releaseFingerprint(signer.publicKey)}`);

function executableOf(arch: Architecture): string {
  return join(root, arch === process.arch ? 'dist/larder' : `dist/larder-${arch}`);
}
