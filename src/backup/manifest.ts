// The manifest: the last file of a backup. It lists the content and has a code that only a holder of the site key can compute. A backup
// without a valid manifest is invalid.
import { createMac, deriveKey, timingSafeEqual } from '#domain/cryptography.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { NotWhole, type TarEntry, type TarReader } from './tar.ts';

export interface BackedUpFile {
  name: string;
  size: number;
  sha256: string;
}

export interface BackedUpBlob {
  sha3_384: string;
  size: number;
  /** The id of the backup with the bytes in its archive: this backup or an earlier one. */
  backup: string;
}

export interface Manifest {
  format: 1;
  id: string;
  madeAt: string;
  /** The release of larder that made the backup. */
  version: string;
  /** The backup that this one builds on. */
  since: string | null;
  auditHead: { seq: number; hash: string } | null;
  /** Fingerprint of the site key, for people; absent in backups of the first release. */
  siteKeyFingerprint?: string;
  /** Whether the backup contains the wrapping keys, under a passphrase. */
  keys: boolean;
  files: BackedUpFile[];
  blobs: BackedUpBlob[];
  /**
   * The earlier backups that it builds on, and the last full one, with their files in the same folder; absent in backups of earlier
   * releases, and if the base is elsewhere.
   */
  builtOn?: { id: string; file: string; madeAt: string; isFull: boolean }[];
  /** The earlier backups that this archive has taken the place of: it has their blobs that later ones build on. */
  merged?: string[];
  /** Blobs that records of the copied database need and the backup does not have; absent in backups of the first release. */
  lacking?: MissingBackupBlob[];
}

export interface MissingBackupBlob {
  sha3_384: string;
  /** Missing, corrupt, unreadable, or deleted by the store while the backup was made. */
  why: 'missing' | 'damaged' | 'unreadable' | 'forgotten';
}

/** The signature of the site over the manifest, with the key that other sites trust. A site without a name has none. */
export interface ManifestSignature {
  site: string;
  publicKey: string;
  sig: string;
}

/**
 * How to verify a manifest. The site key verifies its code; on a host without the site key, a function verifies the signature of the site.
 */
export type ManifestVerifier = Buffer | ((text: string, signature: ManifestSignature) => boolean);

const manifestName = 'manifest.json';
const maxManifestBytes = 1024 ** 3;

/** Returns the manifest as the last file of a backup: name and content, with its code and signature. */
export async function signedManifest(
  manifest: Manifest,
  siteKey: Buffer,
  sign?: (text: string) => Promise<ManifestSignature | undefined>,
): Promise<{ name: string; content: Buffer }> {
  const text = JSON.stringify(manifest);
  // Releases that do not know signatures ignore this member.
  const signature = await sign?.(text);
  return {
    name: manifestName,
    content: Buffer.from(`${JSON.stringify({ manifest: text, mac: macOf(text, siteKey), signature })}\n`),
  };
}

/** The backup was made with another site key, or it was changed. */
export class NotOurs extends Error {
  /** `made` is the fingerprint of the key in the manifest, if it differs from the `given` key. */
  constructor(file: string, { made, expected }: { made: string | undefined; expected: string }) {
    super(
      made === undefined
        ? `${file} was not made with this site key (fingerprint ${expected}), or it has been changed`
        : `${file} was not made with this site key: it needs the key with the fingerprint ${made}, and the given key has ${expected}. ` +
            'Use a copy of the site.key that the store had at that time',
    );
    this.name = 'NotOurs';
  }
}

/** Returns the manifest of an archive. Throws NotWhole, NotOurs or NotSigned. */
export async function readManifest(file: string, tar: TarReader, prover: ManifestVerifier): Promise<Manifest> {
  const last: TarEntry | undefined = tar.entries.at(-1);
  if (last?.name !== manifestName || last.size > maxManifestBytes) throw new NotWhole(file);
  const chunks: Buffer[] = [];
  for await (const bytes of tar.read(last)) chunks.push(bytes);
  let signed: { manifest?: unknown; mac?: unknown; signature?: unknown };
  try {
    signed = JSON.parse(Buffer.concat(chunks).toString('utf8')) as typeof signed;
  } catch {
    throw new NotWhole(file);
  }
  const { manifest: text, mac, signature } = signed;
  if (typeof text !== 'string' || typeof mac !== 'string') throw new NotWhole(file);
  if (typeof prover === 'function') refuseUnsigned(file, text, signature, prover);
  else refuseForeign(file, text, mac, prover);
  const manifest = JSON.parse(text) as Omit<Manifest, 'format'> & { format: number };
  if (manifest.format !== 1) throw new Error(`cannot read ${file}: a newer release of larder made it`);
  return { ...manifest, format: 1 };
}

function refuseForeign(file: string, text: string, mac: string, siteKey: Buffer): void {
  const [claimed, computed] = [Buffer.from(mac, 'hex'), Buffer.from(macOf(text, siteKey), 'hex')];
  if (claimed.length === computed.length && timingSafeEqual(claimed, computed)) return;
  const fingerprint = fingerprintOf(siteKey);
  const made = fingerprintIn(text);
  throw new NotOurs(file, { made: made === fingerprint ? undefined : made, expected: fingerprint });
}

/** The backup was not signed with the given key. */
export class NotSigned extends Error {
  constructor(file: string) {
    super(`${file} was not signed with this key, or it has been changed. A site without a name does not sign backups`);
    this.name = 'NotSigned';
  }
}

function refuseUnsigned(
  file: string,
  text: string,
  signature: unknown,
  isGood: Exclude<ManifestVerifier, Buffer>,
): void {
  const { site, publicKey, sig } = (signature ?? {}) as Record<string, unknown>;
  const isThere = typeof site === 'string' && typeof publicKey === 'string' && typeof sig === 'string';
  if (!isThere || !isGood(text, { site, publicKey, sig })) throw new NotSigned(file);
}

/** Returns the fingerprint in an unverified manifest. Use it only in messages. */
function fingerprintIn(text: string): string | undefined {
  const [, fingerprint] = /"siteKeyFingerprint":"((?:[0-9a-f]{4}-){3}[0-9a-f]{4})"/.exec(text) ?? [];
  return fingerprint;
}

const macOf = (text: string, siteKey: Buffer): string =>
  createMac('backup manifest', deriveKey(siteKey, 'backup manifest')).update(text).digest('hex');
