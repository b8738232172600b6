// Signs the manifest of a release with an Ed25519 key: in a file, or in a key manager that another program reaches.
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { sshField } from '#domain/approvals/ssh-key.ts';
import type { LarderReleaseKeys, SiteRotation } from '#contract/wire.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { releaseType, signatureNamespace, sshLineOf, type ReleaseProof } from '#transfers/larder-release/manifest.ts';
import { rotationType } from '#transfers/site.ts';
import { signEnvelope } from '#transfers/statement/envelopes.ts';
import { encodePae } from '#transfers/statement/signatures.ts';
import { keyIdOf } from '#transfers/statement/site-keys.ts';

export interface ReleaseSigner {
  /** The 32 bytes of the public key in base64url. */
  publicKey: string;
  /** Signs bytes with Ed25519 and returns the 64 bytes of the signature. */
  sign(bytes: Uint8Array): Buffer;
}

/** The signer that a command line names. */
export function signerOf({ key, signer }: { key?: string | undefined; signer?: string | undefined }): ReleaseSigner {
  if (key !== undefined && signer === undefined) return signerFromFile(key);
  if (signer !== undefined && key === undefined) return signerFromProgram(signer);
  throw new Error('cannot sign: give --key FILE or --signer PROGRAM');
}

/** A key in a file: PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` writes it. */
function signerFromFile(file: string): ReleaseSigner {
  const key = createPrivateKey(readFileSync(file));
  return { publicKey: publicKeyOf(key), sign: (bytes) => sign(null, bytes, key) };
}

/**
 * A key that a program of the key manager reaches. `PROGRAM public-key` prints the public key in PEM; `PROGRAM sign` reads bytes from its
 * standard input and writes the 64 bytes of the signature.
 */
function signerFromProgram(program: string): ReleaseSigner {
  const publicKey = publicKeyOf(createPublicKey(execFileSync(program, ['public-key'])));
  return { publicKey, sign: (input) => execFileSync(program, ['sign'], { input }) };
}

/** The 32 bytes of the public key in base64url. */
export function publicKeyOf(key: KeyObject): string {
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('cannot sign: the release key must be an Ed25519 key');
  return (key.type === 'public' ? key : createPublicKey(key)).export({ format: 'jwk' }).x!;
}

/** Signs a manifest in both formats. */
export function proveManifest(manifest: string, signer: ReleaseSigner): ReleaseProof {
  const sig = signer.sign(encodePae(Buffer.from(manifest), releaseType)).toString('base64');
  const signatures = [{ keyid: keyIdOf(signer.publicKey), sig }];
  return {
    manifest,
    sshSignature: sshSignatureOf(manifest, signer),
    signatures: toCanonicalText({ payloadType: releaseType, signatures }),
  };
}

/** A signature as `ssh-keygen -Y sign` makes it (OpenSSH, PROTOCOL.sshsig). */
function sshSignatureOf(message: string, signer: ReleaseSigner): string {
  const digest = createHash('sha512').update(message).digest();
  const [magic, purpose] = [Buffer.from('SSHSIG'), [signatureNamespace, '', 'sha512'].map(sshField)];
  const signed = signer.sign(Buffer.concat([magic, ...purpose, sshField(digest)]));
  const version = Buffer.from([0, 0, 0, 1]);
  const key = sshField(Buffer.from(sshLineOf(signer.publicKey).split(' ')[1]!, 'base64'));
  const signature = sshField(Buffer.concat([sshField('ssh-ed25519'), sshField(signed)]));
  const lines = Buffer.concat([magic, version, key, ...purpose, signature])
    .toString('base64')
    .match(/.{1,70}/g)!;
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}

/** Replaces the release keys by a new one, with the signature of an old one. */
export async function rotateReleaseKeys(
  { site, rotation, threshold, keys, former }: LarderReleaseKeys,
  signer: ReleaseSigner,
  next: string,
): Promise<{ statement: string; keys: LarderReleaseKeys }> {
  if (!keys.includes(signer.publicKey))
    throw new Error('cannot rotate the release keys: the signing key is not one of them');
  const document: SiteRotation = { format: 1, site, rotation: rotation + 1, keys: [next], threshold };
  return {
    statement: await signEnvelope(document, rotationType, signer),
    keys: { site, rotation: rotation + 1, threshold, keys: [next], former: [...former, ...keys] },
  };
}
