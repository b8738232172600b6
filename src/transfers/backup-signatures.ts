// Signs backups with the transfer key of the site, so that they can be verified without the site key.
import { createPublicKey, verify } from 'node:crypto';

import { encodePae } from './statement/signatures.ts';
import { fingerprintOf, type Site } from './site.ts';

const payloadType = 'application/vnd.larder.backup.v1+json';

interface SiteSignature {
  site: string;
  /** Ed25519, base64url. */
  publicKey: string;
  /** Base64. */
  sig: string;
}

/** Returns a function that signs the list of a backup's contents. */
export const signsBackups =
  ({ name, seed }: Site) =>
  (text: string): SiteSignature => {
    const sig = seed.sign(encodePae(Buffer.from(text), payloadType)).toString('base64');
    return { site: name, publicKey: seed.publicKey, sig };
  };

/** Returns a function that checks whether a list was signed with the key that has this fingerprint. */
export const signedWith =
  (fingerprint: string) =>
  (text: string, { publicKey, sig }: SiteSignature): boolean => {
    if (!/^[\w-]{43}$/.test(publicKey) || fingerprintOf([publicKey]).join() !== fingerprint.toLowerCase()) return false;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    return verify(null, encodePae(Buffer.from(text), payloadType), key, Buffer.from(sig, 'base64'));
  };
