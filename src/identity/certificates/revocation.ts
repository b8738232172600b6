// Revocation lists (RFC 5280 section 5): reads their dates, verifies their signatures, and finds serial numbers in them.
import { verifyFor, type X509Certificate } from '#domain/cryptography.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { signatureDigests } from './client-certificate.ts';
import {
  derTag,
  elementsIn,
  InvalidDer,
  oidOf,
  readExtensions,
  readSpan,
  readTime,
  type DerElement,
  type DerSpan,
} from './der.ts';

export interface RevocationList {
  file: string;
  der: Buffer;
  /** The name of the authority, DER. */
  issuer: Buffer;
  thisUpdate: Date;
  nextUpdate: Date;
  /** The entries; empty if there are none. */
  revoked: Buffer;
  toBeSigned: Buffer;
  signatureAlgorithm: string;
  signature: Buffer;
}

/** Reads the lists of a file, PEM or DER. The message of an error is the end of a sentence. */
export function readRevocationLists(file: string, bytes: Buffer): RevocationList[] {
  const lists = (isPem(bytes) ? fromPem(bytes) : [bytes]).map((der) => readList(file, der));
  if (lists.length === 0) throw new Error('it holds no revocation list');
  return lists;
}

const isPem = (bytes: Buffer): boolean => bytes[0] !== derTag.sequence;

function fromPem(bytes: Buffer): Buffer[] {
  const [begin, end] = ['-----BEGIN X509 CRL-----', '-----END X509 CRL-----'];
  const lists: Buffer[] = [];
  for (let at = bytes.indexOf(begin); at >= 0;) {
    const stop = bytes.indexOf(end, at);
    if (stop < 0) throw new Error('it is not complete');
    lists.push(Buffer.from(bytes.toString('latin1', at + begin.length, stop), 'base64'));
    at = bytes.indexOf(begin, stop);
  }
  return lists;
}

function readList(file: string, der: Buffer): RevocationList {
  try {
    return parseList(file, der);
  } catch (error) {
    if (error instanceof InvalidDer) throw new Error(`it is not a revocation list: ${error.message}`, { cause: error });
    throw error;
  }
}

function parseList(file: string, der: Buffer): RevocationList {
  const outer = readSpan(der, 0);
  if (outer.tag !== derTag.sequence || outer.end !== der.length) throw new InvalidDer('the file has another length');
  const whole = { tag: outer.tag, content: der.subarray(outer.contentAt), whole: der };
  const [toBeSigned, algorithm, signature]: (DerElement | undefined)[] = elementsIn(whole, derTag.sequence);
  const fields = elementsIn(toBeSigned, derTag.sequence);
  if (fields[0]?.tag === derTag.integer) fields.shift();
  const [, issuer, thisUpdate, nextUpdate, ...more] = fields;
  if (toBeSigned === undefined || issuer === undefined || thisUpdate === undefined)
    throw new InvalidDer('an element is missing');
  if (nextUpdate?.tag !== 0x17 && nextUpdate?.tag !== 0x18) throw new Error('it does not say when it expires');
  if (signature?.tag !== derTag.bitString || signature.content[0] !== 0) throw new InvalidDer('it has no signature');
  const extensions = readExtensions(more.find(({ tag }) => tag === 0xa0));
  // Lists of changes and partial lists: the critical extensions deltaCRLIndicator and issuingDistributionPoint.
  if (extensions.some(({ oid, isCritical }) => isCritical || ['551d1b', '551d1c'].includes(oid)))
    throw new Error('it is a partial list or a list of changes, and a full list is needed');
  return {
    file,
    der,
    issuer: issuer.whole,
    thisUpdate: readTime(thisUpdate),
    nextUpdate: readTime(nextUpdate),
    revoked: more.find(({ tag }) => tag === derTag.sequence)?.content ?? Buffer.alloc(0),
    toBeSigned: toBeSigned.whole,
    signatureAlgorithm: oidOf(elementsIn(algorithm, derTag.sequence)[0]),
    signature: signature.content.subarray(1),
  };
}

/** Whether this authority has signed the list. */
export function isSignedBy(list: RevocationList, authority: X509Certificate): boolean {
  const digest = signatureDigests[list.signatureAlgorithm];
  if (digest === undefined) return false;
  try {
    return verifyFor(`CRL ${digest}`, list.toBeSigned, authority.publicKey, list.signature);
  } catch (error) {
    throw new Error(`cannot verify ${list.file}: ${inOneSentence(error)}`, { cause: error });
  }
}

/** Whether the list has this serial number, which is given as DER. The native search decides almost always. */
export function isRevokedBy({ revoked }: Pick<RevocationList, 'revoked'>, serial: Buffer): boolean {
  if (revoked.indexOf(serial) < 0) return false;
  // The bytes may also be those of a date, or reach from one entry into the next.
  for (let at = 0; at < revoked.length;) {
    const entry: DerSpan = readSpan(revoked, at);
    const { end } = readSpan(revoked, entry.contentAt, entry.end);
    if (
      end - entry.contentAt === serial.length &&
      revoked.compare(serial, 0, serial.length, entry.contentAt, end) === 0
    )
      return true;
    at = entry.end;
  }
  return false;
}
