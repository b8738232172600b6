// larder release verify, larder release install
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import type { LarderReleaseManifest } from '#contract/wire.ts';
import { shellWord } from '#domain/shell-word.ts';
import { formatCount } from '#domain/quantities.ts';
import { version } from '#platform/version.ts';
import { packageFile } from '#transfers/larder-release/manifest.ts';
import { builtInKeys } from '#transfers/larder-release/release-keys.ts';
import { UntrustedRelease } from '#transfers/larder-release/untrusted-release.ts';
import {
  compareVersions,
  verifyRelease,
  type ReleaseVerification,
  type VerifiedRelease,
} from '#transfers/larder-release/verify-release.ts';
import { command, Failure } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';

const positionals = [{ name: 'folder', summary: 'The folder with all files of the release.' }] as const;

const options = {
  older: { type: 'boolean', summary: 'Accept a release that is older than this one.' },
  fingerprint: {
    type: 'string',
    value: 'SHA256:…',
    summary: 'Trust the release key with this fingerprint, and not the keys of this larder: for a first installation.',
  },
} as const;

interface ReleaseCall {
  positionals: { folder: string };
  options: { older: boolean; fingerprint: string | undefined };
}

export const releaseVerify = command({
  name: 'release verify',
  summary: 'Verify the files of a release of larder with the keys of the installed one.',
  description:
    'The command checks both signatures of the manifest, and name, size and digest of every file. Anything missing, ' +
    'changed or additional is refused. It needs no store and no network, and does not depend on the clock.',
  positionals,
  options,
  examples: ['larder release verify /media/stick/larder-1.2.0'],

  async run(call) {
    const { manifest, fingerprints } = await verified(call);
    return {
      text: [
        `Release ${manifest.version} of ${manifest.released} is genuine: ${formatCount(manifest.files.length, 'file')}, signed with ${fingerprints.join(' or ')}.`,
        ...clockRemarks(manifest),
      ].join('\n'),
      json: presentRelease(manifest, fingerprints),
    };
  },
});

export const releaseInstall = command({
  name: 'release install',
  summary: 'Verify a release of larder, and print the command that installs its Debian package.',
  description:
    'The package is copied into a new temporary folder while it is verified, so that a change of the medium has no ' +
    'effect afterwards.',
  positionals,
  options,
  examples: ['larder release install /media/stick/larder-1.2.0'],

  async run(call) {
    const place = mkdtempSync(join(tmpdir(), 'larder-release-'));
    // apt reads packages as a user of its own.
    chmodSync(place, 0o755);
    try {
      const isForThisHost = (name: string): boolean => name.endsWith(`_${architecture()}.deb`);
      const copyOf = (name: string): string | undefined => (isForThisHost(name) ? join(place, name) : undefined);
      const { manifest, fingerprints } = await verified(call, copyOf);
      const copy = join(place, packageFile(manifest.version, architecture()));
      const downgrade = compareVersions(manifest.version, version) < 0 ? ' --allow-downgrades' : '';
      const line = `apt install${downgrade} ${shellWord(copy)}`;
      return { text: line, json: { ...presentRelease(manifest, fingerprints), package: copy, command: line } };
    } catch (error) {
      rmSync(place, { recursive: true, force: true });
      throw error;
    }
  },
});

async function verified(
  { positionals: { folder }, options: { older, fingerprint } }: ReleaseCall,
  copyOf: ReleaseVerification['copyOf'] = () => undefined,
): Promise<VerifiedRelease> {
  const trusted = fingerprint === undefined ? builtInKeys() : { fingerprint };
  const hint =
    'keys' in trusted && trusted.keys.length === 0
      ? " Give the fingerprint of the release key with '--fingerprint'."
      : '';
  const verification = { trusted, installed: older ? undefined : version, copyOf };
  return withReleaseErrors(folder, () => verifyRelease(resolve(folder), verification), hint);
}

/** Runs work on the release in a folder; each of its errors becomes a sentence. */
export async function withReleaseErrors<Result>(
  folder: string,
  work: () => Promise<Result>,
  hint = '',
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UntrustedRelease)
      throw new Failure(`cannot trust the release in ${folder}: ${error.message}${hint}`, {
        code: 'untrusted-release',
      });
    throw toReadFailure(folder, error);
  }
}

/** A signature does not expire, so a wrong clock is worth a remark only. */
function clockRemarks({ released }: LarderReleaseManifest): string[] {
  const today = new Date().toISOString().slice(0, 10);
  return today < released ? [`The clock of this host says ${today}, before the day of the release. Check it.`] : [];
}

const architecture = (): string => (process.arch === 'x64' ? 'amd64' : process.arch);

const presentRelease = ({ version: of, commit, released, files }: LarderReleaseManifest, fingerprints: string[]) => ({
  version: of,
  commit: commit ?? null,
  released,
  fingerprints,
  files,
});
