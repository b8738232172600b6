// Signs backups with the transfer key of the site, so that they can be verified without the site key.
import { findProblems } from '#contract/schema.ts';
import { Refusal } from '#domain/refusal.ts';
import { isSignedBy } from './statement/site-keys.ts';
import { encodePae } from './statement/signatures.ts';
import { fingerprintOf, type Site } from './site.ts';

const payloadType = 'application/vnd.larder.backup.v1+json';

interface SiteSignature {
  site: string;
  publicKey: string;
  /** Base64. */
  sig: string;
}

/**
 * Signs the list of a backup's contents. If the device with the key of the site is away, the backup is made without the signature, and
 * `notes` says so.
 */
export function signsBackups({ name, key }: Site): {
  sign(text: string): Promise<SiteSignature | undefined>;
  notes: string[];
} {
  const notes: string[] = [];
  return {
    notes,
    async sign(text) {
      try {
        const sig = await key.sign(encodePae(Buffer.from(text), payloadType));
        return { site: name, publicKey: key.publicKey, sig: sig.toString('base64') };
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'sealed')) throw error;
        notes.push(`The site has not signed it. ${error.message}`);
        return undefined;
      }
    },
  };
}

/** Returns a function that checks whether a list was signed with the key that has this fingerprint. */
export const signedWith =
  (fingerprint: string) =>
  (text: string, { publicKey, sig }: SiteSignature): boolean =>
    findProblems('SitePublicKey', publicKey).length === 0 &&
    fingerprintOf([publicKey]).join() === fingerprint.toLowerCase() &&
    isSignedBy(publicKey, encodePae(Buffer.from(text), payloadType), sig);
