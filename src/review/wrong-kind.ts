// Recognizes by its first bytes the format of a file that could not be read as the kind that it was pushed as.
import type { UploadBytes } from './squashfs/source.ts';
import { Unacceptable } from './unacceptable.ts';
import type { ReviewUpload } from './verdict.ts';

type ReadKind = Exclude<ReviewUpload['kind'], 'plain'>;

/** The format of each kind, and the tool that makes it. */
const expected: Record<ReadKind, string> = {
  snap: "a snap is a squashfs image, as 'snapcraft pack' makes it",
  component: "a component is a squashfs image, as 'snapcraft pack' makes it",
  charm: "a charm is a zip archive, as 'charmcraft pack' makes it",
  bundle: "a bundle is a zip archive, as 'charmcraft pack' makes it",
  rock: "a rock is an OCI archive that is not compressed, as 'rockcraft pack' makes it",
};

interface Format {
  name: string;
  /** The kinds of package that have this format. */
  of: readonly ReadKind[];
  bytes: string;
  /** The position of the bytes. */
  at: number;
}

const format = (name: string, bytes: string, of: readonly ReadKind[] = [], at = 0): Format => ({ name, of, bytes, at });

const formats = [
  format('a squashfs image, such as a snap', 'hsqs', ['snap', 'component']),
  format('a zip archive, such as a charm', 'PK\x03\x04', ['charm', 'bundle']),
  format('an empty zip archive', 'PK\x05\x06', ['charm', 'bundle']),
  format('a tar archive, such as a rock', 'ustar', ['rock'], 257),
  format('compressed with gzip', '\x1f\x8b'),
  format('compressed with xz', '\xfd7zXZ\0'),
  format('compressed with zstd', '\x28\xb5\x2f\xfd'),
  format('compressed with bzip2', 'BZh'),
  format('a Debian package', '!<arch>\ndebian-binary'),
  format('a program', '\x7fELF'),
  format('a PDF document', '%PDF-'),
  format('a PNG picture', '\x89PNG'),
];

/** How many bytes are needed to recognize a format. */
const headLength = 512;

/** The format of a file by its first bytes; `of` has the kinds of package with that format. */
function formatOf(source: UploadBytes): Pick<Format, 'name' | 'of'> | undefined {
  if (source.size === 0) return { name: 'empty', of: [] };
  const head = Buffer.from(source.read(0, Math.min(headLength, source.size))).toString('latin1');
  const match = formats.find(({ bytes, at }) => head.startsWith(bytes, at));
  if (match !== undefined) return match;
  if (/^\s{0,99}<(?:!doctype|html)/i.test(head)) return { name: 'a web page', of: [] };
  return /^[\t\n\r\x20-\x7e]{1,512}$/.test(head) ? { name: 'text', of: [] } : undefined;
}

/** A better sentence for a file that could not be read; undefined if its first bytes are right or unknown. */
export function wrongKind(kind: ReadKind, source: UploadBytes): Unacceptable | undefined {
  const actual = formatOf(source);
  if (actual === undefined || actual.of.includes(kind)) return undefined;
  return new Unacceptable(`The file is ${actual.name}, but ${expected[kind]}. Push the file that it produces.`);
}
