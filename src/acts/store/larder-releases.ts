// Removes kept releases of larder. The acceptance of a transfer adds them.
import { Refusal } from '#domain/refusal.ts';
import { act } from '../act.ts';

export const removeLarderRelease = act({
  name: 'remove_larder_release',
  summary: 'Remove a release of larder that was kept from a transfer.',
  on: 'larder/VERSION',
  object: ({ version }: { version: string }) => `larder/${version}`,
  gate: { never: 'it removes files that nothing uses until a person installs them' },

  async perform(tx, { version }: { version: string }, { note }): Promise<void> {
    const stored = await tx.larderReleases.find(version);
    if (stored === undefined) throw noLarderRelease(version);
    await tx.larderReleases.remove(version);
    note({ released: stored.released, manifest: stored.manifest, source: stored.source });
  },
});

/** The error for a release that is not kept. `hint` continues its last sentence. */
export const noLarderRelease = (version: string, hint = ''): Refusal =>
  new Refusal(
    'resource-not-found',
    `Release ${version} of larder is not kept here. 'larder release list' lists the releases${hint}.`,
  );
