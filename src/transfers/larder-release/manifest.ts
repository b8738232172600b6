// The signed list of the files of a release. The version determines their names, so a renamed or additional file is refused.
import { findProblems } from '#contract/schema.ts';
import type { LarderReleaseKeys, LarderReleaseManifest } from '#contract/wire.ts';
import { readSshSignature, type SshSignature } from '#domain/approvals/ssh-signature.ts';
import { sshField, sshKeyOf } from '#domain/approvals/ssh-key.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { findSigners, readSignatures } from '../statement/signatures.ts';
import { UntrustedRelease } from './untrusted-release.ts';

export const manifestFile = 'manifest.json';
/** The signature in the format of `ssh-keygen -Y sign`. */
export const sshSignatureFile = `${manifestFile}.sig`;
/** The signatures in the format of transfers: a DSSE envelope without its payload. */
export const signaturesFile = `${manifestFile}.signatures`;
export const signatureNamespace = 'larder-release';
export const releaseType = 'application/vnd.larder.release.v1+json';

/** The file of a rotation of the release keys. */
export const rotationFile = (number: number): string => `rotation-${String(number)}.json`;

/** The file of the Debian package for an architecture. */
export const packageFile = (version: string, architecture: string): string => `larder_${version}_${architecture}.deb`;

/** Returns the names of all files that the manifest of a version lists. */
export const filesOfRelease = (version: string): string[] => [
  ...['amd64', 'arm64'].flatMap((architecture) => [
    `larder-${version}-${architecture}`,
    packageFile(version, architecture),
  ]),
  ...['oci.tar', 'cdx.json', 'openvex.json', 'intoto.json'].map((ending) => `larder-${version}.${ending}`),
  'CHANGELOG.md',
];

/** The texts that state the content of a release and prove its origin. */
export interface ReleaseProof {
  manifest: string;
  sshSignature: string;
  signatures: string;
}

/** Reads a manifest that the keys have signed twice, in both forms. Throws `UntrustedRelease` if they are not. */
export function readProvenManifest(proof: ReleaseProof, keys: LarderReleaseKeys): LarderReleaseManifest {
  if (keys.keys.length === 0)
    throw new UntrustedRelease('This larder has no release keys, because it was built without them.');
  requireSshSignature(proof, keys);
  requireSignatures(proof, keys);
  return readManifest(proof.manifest);
}

function requireSshSignature({ manifest, sshSignature }: ReleaseProof, keys: LarderReleaseKeys): void {
  const signature = readReleaseSignature(sshSignature);
  const isOf = (key: string): boolean => sshLineOf(key) === signature.key.line;
  if (keys.former.some(isOf) && !keys.keys.some(isOf))
    throw new UntrustedRelease('It is signed with a release key that was withdrawn.');
  if (!keys.keys.some(isOf)) throw new UntrustedRelease('It is not signed with a release key.');
  if (!signature.isOf(Buffer.from(manifest)))
    throw new UntrustedRelease(`The signature in ${sshSignatureFile} is of another manifest.`);
}

/** Reads the signature of a release, without verifying it. */
export function readReleaseSignature(text: string): SshSignature {
  const signature = readSshSignature(text);
  if (signature?.text !== text)
    throw new UntrustedRelease(`${sshSignatureFile} is not a signature as 'ssh-keygen -Y sign' makes it.`);
  if (signature.namespace !== signatureNamespace)
    throw new UntrustedRelease(`The signature in ${sshSignatureFile} was made for another purpose.`);
  return signature;
}

function requireSignatures({ manifest, signatures }: ReleaseProof, { keys, threshold }: LarderReleaseKeys): void {
  try {
    const list = readSignatures(Buffer.from(signatures), releaseType);
    if (findSigners(Buffer.from(manifest), list, keys, releaseType).length >= threshold) return;
  } catch (error) {
    if (!(error instanceof NotATransfer)) throw error;
    throw new UntrustedRelease(`${signaturesFile}: ${error.message}`);
  }
  throw new UntrustedRelease(`${signaturesFile} lacks signatures of the release keys over this manifest.`);
}

function readManifest(text: string): LarderReleaseManifest {
  const value = parse(text);
  if (findProblems('LarderReleaseManifest', value).length > 0 || toCanonicalText(value) !== text)
    throw new UntrustedRelease(`${manifestFile} is not a manifest that this release knows.`);
  const manifest = value as LarderReleaseManifest;
  const names = manifest.files.map(({ name }) => name);
  if (names.join() !== filesOfRelease(manifest.version).sort().join())
    throw new UntrustedRelease(`${manifestFile} does not list the files of release ${manifest.version}.`);
  return manifest;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The line of an Ed25519 key in OpenSSH's format; the key is in base64url. */
export function sshLineOf(key: string): string {
  const fields = [sshField('ssh-ed25519'), sshField(Buffer.from(key, 'base64url'))];
  return `ssh-ed25519 ${Buffer.concat(fields).toString('base64')}`;
}

/** Returns the fingerprint of a release key, as `ssh-keygen -l` shows it. */
export const releaseFingerprint = (key: string): string =>
  sshKeyOf(Buffer.from(sshLineOf(key).split(' ')[1]!, 'base64'))!.fingerprint;
