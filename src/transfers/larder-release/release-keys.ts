// The keys that sign releases of larder. A build embeds them in place of the empty list of the sources.
import { findProblems } from '#contract/schema.ts';
import type { LarderReleaseKeys } from '#contract/wire.ts';
import { builtText, embeddedText } from '#platform/embedded.ts';
import { parseRotation } from '../site.ts';
import { UntrustedRelease } from './untrusted-release.ts';

/** The embedded file, relative to the root of the project. */
export const releaseKeysFile = 'src/transfers/larder-release/release-keys.json';

/** Returns the keys that are built into this program. */
export const builtInKeys = (): LarderReleaseKeys =>
  readReleaseKeys(builtText('release-keys.json') ?? embeddedText(releaseKeysFile));

/** Reads a file of keys. Throws an error if it is invalid. */
export function readReleaseKeys(text: string): LarderReleaseKeys {
  const value: unknown = JSON.parse(text);
  const [problem] = findProblems('LarderReleaseKeys', value);
  if (problem !== undefined) throw new Error(`cannot use the release keys: ${problem.message}`);
  return value as LarderReleaseKeys;
}

/**
 * Follows the rotations of a release: each has the number after that of the keys, and is signed by as many of the keys as they need. The
 * keys before a rotation are former ones. Rotations that the keys contain already are skipped.
 */
export function followRotations(keys: LarderReleaseKeys, texts: readonly string[]): LarderReleaseKeys {
  let present = keys;
  for (const text of texts) {
    const parsed = parseRotation(text);
    if (parsed?.rotation.site !== keys.site) throw new UntrustedRelease('A rotation of its keys is not a valid one.');
    const { rotation, keys: next, threshold } = parsed.rotation;
    if (rotation <= present.rotation) continue;
    const signers = parsed.signedBy(present.keys).length;
    if (rotation !== present.rotation + 1 || signers < present.threshold)
      throw new UntrustedRelease(
        `The rotation of its keys with number ${String(rotation)} is not signed by the release keys before it.`,
      );
    const { site, former } = present;
    present = { site, rotation, threshold, keys: next, former: [...former, ...present.keys] };
  }
  return present;
}
