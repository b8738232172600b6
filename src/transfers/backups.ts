// What a site signs of its backups with the key that others believe it by, so that somebody without the site key can check them.
import { createPublicKey, verify } from 'node:crypto';

import { enclosed } from './form/signatures.ts';
import { fingerprintOf, type Site } from './site.ts';

const payloadType = 'application/vnd.larder.backup.v1+json';

interface SiteSignature {
  site: string;
  /** Ed25519, base64url. */
  publicKey: string;
  /** Base64. */
  sig: string;
}

/** Signs the list of what a backup holds. */
export const signsBackups =
  ({ name, seed }: Site) =>
  (text: string): SiteSignature => {
    const sig = seed.sign(enclosed(Buffer.from(text), payloadType)).toString('base64');
    return { site: name, publicKey: seed.publicKey, sig };
  };

/** Whether a list was signed with the key that has this fingerprint. */
export const signedWith =
  (fingerprint: string) =>
  (text: string, { publicKey, sig }: SiteSignature): boolean => {
    if (!/^[\w-]{43}$/.test(publicKey) || fingerprintOf([publicKey]).join() !== fingerprint.toLowerCase()) return false;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    return verify(null, enclosed(Buffer.from(text), payloadType), key, Buffer.from(sig, 'base64'));
  };
