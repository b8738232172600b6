// This site among others: what it is called, the key that it signs transfers with, and whose transfers it believes.
import { Refusal } from '#domain/refusal.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import { act } from './act.ts';

/** Under which names the appliance keeps its own name, and its key: the sealed seed of an Ed25519 key. */
export const siteNameKept = 'site-name';
export const transferKeyKept = 'transfer-key';

export const nameSite = act({
  name: 'name_site',
  summary: 'Say what this site is called, and keep the key that it signs transfers with.',
  on: 'site/NAME',
  object: ({ name }: { name: string }) => `site/${name}`,
  gate: { never: 'nobody believes the site before somebody elsewhere trusts its key' },

  async perform(tx, { name, sealedKey, keyId }: { name: string; sealedKey: string; keyId: string }, { note }) {
    const before = await tx.appliance.find(siteNameKept);
    if (before !== undefined) {
      throw new Refusal('conflict', `This site is called '${before}' already; what it has signed says so.`);
    }
    note({ key: keyId });
    await tx.appliance.set(siteNameKept, name);
    await tx.appliance.set(transferKeyKept, sealedKey);
  },
});

type NewSource = Omit<TransferSource, 'floor' | 'addedAt' | 'addedBy'>;

export const trustSource = act({
  name: 'trust_source',
  summary: 'Believe the transfers of a source that enough of its keys have signed, or change what it may bring.',
  on: 'source/NAME',
  object: ({ name }: NewSource) => `source/${name}`,
  gate: {
    kinds: ['sources'],
    async lines(tx, source: NewSource) {
      const before = await tx.transferSources.find(source.name);
      const from = before === undefined ? null : inWords(before);
      return [{ kind: 'sources', on: `source/${source.name}`, part: null, from, to: inWords(source) }];
    },
  },

  async perform(tx, source: NewSource, { at, actor, note }) {
    if (source.threshold > source.keys.length) {
      throw new Refusal(
        'api-error',
        `${String(source.threshold)} signatures are asked for, and '${source.name}' has ${String(source.keys.length)} keys.`,
      );
    }
    note({ ...source });
    await tx.transferSources.set({ ...source, addedAt: at, addedBy: actor });
  },
});

/** What is believed of a source, for those who approve of it. */
const inWords = ({ keys, threshold, packages, mayRelease }: NewSource): string =>
  `${String(threshold)} of the keys ${[...keys].sort().join(', ')}; ${packages.join(', ')}${mayRelease ? '' : ', and no releases'}`;

export const distrustSource = act({
  name: 'distrust_source',
  summary: 'Believe the transfers of a source no more; what came from it stays.',
  on: 'source/NAME',
  object: ({ name }: { name: string }) => `source/${name}`,
  gate: { never: 'who finds out that a key was stolen must not wait for others' },

  async perform(tx, { name }: { name: string }) {
    if ((await tx.transferSources.remove(name)) === 0) {
      throw new Refusal('resource-not-found', `There is no source '${name}'; 'larder site list' shows them.`);
    }
  },
});
