// Verifies a release of larder with files among the contents of the store: of a transfer, or kept.
import type { LarderReleaseVerdict } from '#acts/transfers/plan-types.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { LarderReleaseKeys, LarderReleaseManifest, TransferLarderRelease } from '#contract/wire.ts';
import { version as installed } from '#platform/version.ts';
import { readBlob } from '../blob-bytes.ts';
import { compareRelease, type ReleaseComparison } from './compare-release.ts';
import { manifestFile } from './manifest.ts';
import { builtInKeys } from './release-keys.ts';
import { UntrustedRelease } from './untrusted-release.ts';
import { compareVersions, maxProofBytes, proveRelease } from './verify-release.ts';

/** A release of larder in a transfer, with its verdict. Comparison and verdict are of the running program. */
export interface CarriedRelease extends Pick<TransferLarderRelease, 'version' | 'commit' | 'released'> {
  installed: string;
  verdict: LarderReleaseVerdict;
  /** Undefined if it is not trusted. */
  comparison: ReleaseComparison | undefined;
}

const maxMebibytes = { changelog: 1, bill: 8, vex: 2 };

/** The files that a preview reads, by version. */
const textFiles = (version: string) => ({
  changelog: 'CHANGELOG.md',
  bill: `larder-${version}.cdx.json`,
  vex: `larder-${version}.openvex.json`,
});

/** Refuses a release with a text that is too long for a preview. */
export function refuseLargeTexts({ version, files }: Pick<LarderReleaseManifest, 'version' | 'files'>): void {
  const names = textFiles(version);
  for (const kind of ['changelog', 'bill', 'vex'] as const) {
    const { size = 0 } = files.find(({ name }) => name === names[kind]) ?? {};
    if (size > maxMebibytes[kind] * 1024 * 1024)
      throw new UntrustedRelease(`${names[kind]} is too large: it may have at most ${String(maxMebibytes[kind])} MiB.`);
  }
}

/**
 * Verifies the signatures of a release, and that its manifest has the digests of its contents. The caller has compared the contents with
 * these digests. Throws `UntrustedRelease`.
 */
export async function proveCarried(
  sent: TransferLarderRelease,
  blobs: Pick<Blobs, 'open'>,
  keys: LarderReleaseKeys = builtInKeys(),
): Promise<LarderReleaseManifest> {
  const contents = new Map(sent.files.map(({ name, content }) => [name, content]));
  const read = async (name: string): Promise<string> => {
    const content = contents.get(name);
    if (content === undefined) throw new UntrustedRelease(`These files are missing: ${name}.`);
    if (content.size > maxProofBytes) throw new UntrustedRelease(`${name} is too large.`);
    return readText(name, content['sha3-384'], blobs);
  };
  const { manifest } = await proveRelease(
    { names: [...contents.keys()].sort(), read },
    { trusted: keys, installed: undefined },
  );
  if (manifest.version !== sent.version || manifest.released !== sent.released || manifest.commit !== sent.commit)
    throw new UntrustedRelease(`The transfer calls it ${sent.version}, and its manifest says otherwise.`);
  for (const { name, size, sha256 } of manifest.files) {
    const content = contents.get(name);
    if (content?.size !== size || content.sha256 !== sha256)
      throw new UntrustedRelease(`${name} is not the file that was signed.`);
  }
  refuseLargeTexts(manifest);
  return manifest;
}

async function readText(name: string, sha3_384: string, blobs: Pick<Blobs, 'open'>): Promise<string> {
  const bytes = await readBlob(blobs, sha3_384);
  if (bytes === undefined) throw new UntrustedRelease(`${name} is missing here.`);
  return bytes.toString('utf8');
}

/** Verifies the releases of a transfer with the keys of this program, and compares them with it. */
export async function readCarriedReleases(
  { 'larder-releases': sent = [] }: Pick<LazyTransferStatement, 'larder-releases'>,
  blobs: Pick<Blobs, 'open'>,
): Promise<CarriedRelease[]> {
  const releases: CarriedRelease[] = [];
  for (const release of sent) releases.push({ ...release, installed, ...(await judge(release, blobs)) });
  return releases;
}

async function judge(
  sent: TransferLarderRelease,
  blobs: Pick<Blobs, 'open'>,
): Promise<Pick<CarriedRelease, 'verdict' | 'comparison'>> {
  try {
    const { version } = await proveCarried(sent, blobs);
    const contents = new Map(sent.files.map(({ name, content }) => [name, content]));
    const { changelog, bill, vex } = textFiles(version);
    const read = (name: string): Promise<string> => readText(name, contents.get(name)!['sha3-384'], blobs);
    const texts = { changelog: await read(changelog), bill: await read(bill), vex: await read(vex) };
    const isNewer = compareVersions(version, installed) > 0;
    return {
      verdict: { manifest: contents.get(manifestFile)!.sha256, installed, isNewer },
      comparison: compareRelease(texts, { version, installed }),
    };
  } catch (error) {
    if (!(error instanceof UntrustedRelease)) throw error;
    return { verdict: { refused: error.message }, comparison: undefined };
  }
}
