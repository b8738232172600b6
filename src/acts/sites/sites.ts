// Sites: the name and transfer key of this site, and its trusted sources.
import { Refusal } from '#domain/refusal.ts';
import { formatCount } from '#domain/quantities.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import { act, DoneAlready } from '../act.ts';
import { refuseCopiedKey, describeTrust } from './source-trust.ts';
import { unsignedSource } from '../transfers/acceptance-conditions.ts';

/** The appliance setting for the name of this site. */
export const siteNameSetting = 'site-name';
/** The appliance setting for the key that signs its transfers: the seed of an Ed25519 key or the name of a key in the key manager, sealed. */
export const transferKeySetting = 'transfer-key';
/** The earlier public keys of this site: JSON, the newest last. */
export const earlierKeysSetting = 'transfer-keys-before';
/** The rotation statement for the current key, signed with the key before it. */
export const rotationSetting = 'transfer-rotation';

export const nameSite = act({
  name: 'name_site',
  summary: 'Name this site, and store the key that signs its transfers.',
  on: 'site/NAME',
  object: ({ name }: { name: string }) => `site/${name}`,
  gate: { never: 'transfers of the site count elsewhere only after another site trusts its key' },

  async perform(tx, { name, ...newKey }: { name: string } & SiteKeyRecord, { note }) {
    const before = await tx.appliance.find(siteNameSetting);
    if (before !== undefined) {
      throw new Refusal(
        'conflict',
        `This site is called '${before}' already. The name cannot change, because signed transfers contain it.`,
      );
    }
    note(describeKey(newKey));
    await tx.appliance.set(siteNameSetting, name);
    await tx.appliance.set(transferKeySetting, newKey.sealedKey);
  },
});

interface SiteKeyRecord {
  keyId: string;
  sealedKey: string;
  /** The name of the key in the key manager; undefined if the key is in the records. */
  managerKey?: string | undefined;
}

const describeKey = ({ keyId, managerKey }: SiteKeyRecord) => ({
  key: keyId,
  ...(managerKey !== undefined && { 'manager-key': managerKey }),
});

interface NewKey extends SiteKeyRecord {
  name: string;
  before: readonly string[];
  statement: string;
}

export const rotateSite = act({
  name: 'rotate_site',
  summary: 'Replace the key that signs transfers of this site; the old key signs the change for sites that trust it.',
  on: 'site/NAME',
  object: ({ name }: NewKey) => `site/${name}`,
  gate: { never: 'a stolen key must be replaced at once, and each receiver decides for itself' },

  async perform(tx, { before, statement, ...newKey }: NewKey, { note }) {
    const earlierKeys = JSON.parse((await tx.appliance.find(earlierKeysSetting)) ?? '[]') as string[];
    if (earlierKeys.length + 1 !== before.length)
      throw new Refusal('conflict', 'The key was rotated in the meantime. Check the current key.');
    note({ ...describeKey(newKey), rotation: before.length });
    await tx.appliance.set(earlierKeysSetting, JSON.stringify(before));
    await tx.appliance.set(transferKeySetting, newKey.sealedKey);
    await tx.appliance.set(rotationSetting, statement);
  },
});

/** New keys for a source, introduced by a statement signed with its earlier keys. */
interface SourceRotation extends Pick<TransferSource, 'name' | 'keys' | 'threshold' | 'rotation'> {
  /** The signers of the statement, among all current and earlier keys of the source. */
  signers: readonly string[];
}

/** The maximum number of earlier key sets that are kept. */
const maxKeysBefore = 100;

export const rotateSource = act({
  name: 'rotate_source',
  summary: 'Trust new keys of a source; enough of its old keys have signed the change.',
  on: 'source/NAME',
  object: ({ name }: SourceRotation) => `source/${name}`,
  gate: {
    kinds: ['sources'],
    async lines(tx, { name, keys, threshold }: SourceRotation) {
      const before = await tx.transferSources.find(name);
      if (before === undefined) return [];
      const to = describeTrust({ ...before, keys: [...keys], threshold });
      return [{ kind: 'sources', on: `source/${name}`, part: null, from: describeTrust(before), to }];
    },
  },

  async perform(tx, { signers, name, rotation, keys, threshold }: SourceRotation, { note }) {
    const source = await requireSource(tx, name);
    if (source.keys.join() === keys.join() && source.rotation === rotation) throw new DoneAlready(undefined);
    refuseCopiedKey(source);
    if (rotation <= source.rotation) {
      throw new Refusal(
        'conflict',
        `It is rotation ${String(rotation)} of '${name}', and ${String(source.rotation)} is known already.`,
      );
    }
    const good = source.keys.filter((key) => signers.includes(key));
    if (good.length < source.threshold) {
      throw new Refusal(
        'conflict',
        `It was signed by ${String(good.length)} of the trusted keys of '${name}', but ${String(source.threshold)} must sign. ` +
          'Import earlier rotations first. If the old keys are lost, ask the administrators of the source by telephone for the new keys.',
      );
    }
    if (threshold > keys.length) throw new Refusal('api-error', 'The threshold is higher than the number of keys.');
    note({ rotation, keys });
    const keysBefore = keySetsOf(source).slice(-maxKeysBefore);
    await tx.transferSources.rotate({ name, keys, threshold, rotation, keysBefore });
  },
});

/** The key sets of a source, the current one last. */
const keySetsOf = ({ keysBefore, rotation, keys, threshold }: TransferSource): TransferSource['keysBefore'] => [
  ...keysBefore,
  { rotation, keys, threshold },
];

/**
 * Whether a rotation proves that a key of a source was copied: the store knows another rotation with the same number
 * and other keys, and enough of the earlier keys have signed each of the two.
 */
export function provesCopy(source: TransferSource, { rotation, keys, signers }: Omit<SourceRotation, 'name'>): boolean {
  const keySets = keySetsOf(source);
  const same = keySets.find((keySet) => keySet.rotation === rotation);
  const before = keySets.findLast((keySet) => keySet.rotation < rotation);
  if (same === undefined || before === undefined || isSameSet(same.keys, keys)) return false;
  return before.keys.filter((key) => signers.includes(key)).length >= before.threshold;
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  [...some].sort().join() === [...others].sort().join();

export const noteCopiedKey = act({
  name: 'record_copied_key',
  summary:
    'Record two different rotations with one number: they prove that a key of the source was copied, and block its transfers.',
  on: 'source/NAME',
  object: ({ name }: SourceRotation) => `source/${name}`,
  gate: { never: 'the store only becomes more careful' },

  async perform(tx, rotated: SourceRotation, { at, note }) {
    const source = await requireSource(tx, rotated.name);
    if (!provesCopy(source, rotated))
      throw new Refusal('conflict', 'This rotation does not prove that a key was copied.');
    if (source.keyCopiedAt !== null) throw new DoneAlready(undefined);
    note({ rotation: rotated.rotation, keys: rotated.keys });
    await tx.transferSources.noteCopiedKey(rotated.name, at);
  },
});

type Optional = 'scanners' | 'scans' | 'accept';
type ManagedSourceField = 'floor' | 'floorInDoubt' | 'rotation' | 'keysBefore' | 'keyCopiedAt' | 'addedAt' | 'addedBy';
type NewSource = Omit<TransferSource, ManagedSourceField | Optional> & Partial<Pick<TransferSource, Optional>>;

export const trustSource = act({
  name: 'trust_source',
  summary: 'Trust the transfers of a source if enough of its keys have signed them, or change its scope.',
  on: 'source/NAME',
  object: ({ name }: NewSource) => `source/${name}`,
  gate: {
    kinds: ['sources'],
    async lines(tx, source: NewSource) {
      const before = await tx.transferSources.find(source.name);
      const from = before === undefined ? null : describeTrust(before);
      return [{ kind: 'sources', on: `source/${source.name}`, part: null, from, to: describeTrust(source) }];
    },
  },

  async perform(tx, source: NewSource, { at, actor, note }) {
    if (source.name === unsignedSource.name) {
      throw new Refusal(
        'api-error',
        `'${unsignedSource.name}' stands for unsigned folders, so no source can have this name.`,
      );
    }
    if (source.threshold > source.keys.length) {
      throw new Refusal(
        'api-error',
        `${String(source.threshold)} signatures are required, but '${source.name}' has ${formatCount(source.keys.length, 'key')}.`,
      );
    }
    const { scanners = [], scans = 0, accept = 'people' } = source;
    if (scans > scanners.length) {
      throw new Refusal(
        'api-error',
        `${String(scans)} signatures of scanning stations are required, but ${String(scanners.length)} of their keys are named.`,
      );
    }
    note({ ...source });
    await tx.transferSources.set({ ...source, scanners, scans, accept, addedAt: at, addedBy: actor });
    const doubt = doubtKept(source.name);
    if ((await tx.appliance.find(doubt)) !== inDoubt) return;
    await tx.transferSources.doubtFloor(source.name);
    await tx.appliance.set(doubt, '');
  },
});

/** The appliance setting that says that the floor of a removed source is uncertain. It applies again if the source is trusted again. */
const doubtKept = (name: string): string => `transfer-floor/${name}`;
const inDoubt = 'in doubt';

/**
 * How the highest accepted number is settled after a restore: proven by a receipt, or declared as lost, which needs
 * approvals.
 */
interface Floor {
  name: string;
  /** The number in the receipt. */
  proven?: number;
}

export const settleFloor = act({
  name: 'settle_floor',
  summary: 'Confirm after a restore the last accepted number of a source: from its receipt, or as unknown.',
  on: 'source/NAME',
  object: ({ name }: Floor) => `source/${name}`,
  gate: {
    kinds: ['sources'],
    async lines(tx, { name, proven }: Floor) {
      const floor = (await tx.transferSources.find(name))?.floor ?? 0;
      if (proven !== undefined) return [];
      const to = `number ${String(floor)}, and what was let in after it may come in again`;
      return [{ kind: 'sources', on: `source/${name}`, part: 'floor', from: 'in doubt', to }];
    },
  },

  async perform(tx, { name, proven }: Floor, { note }) {
    const source = await tx.transferSources.find(name);
    if (source?.floorInDoubt !== true) throw new DoneAlready(undefined);
    note({ floor: Math.max(source.floor, proven ?? 0), proven: proven !== undefined });
    if (proven !== undefined) await tx.transferSources.raiseFloor(name, proven);
    await tx.transferSources.believeFloor(name);
  },
});

interface FloorReset {
  name: string;
  /** The number that counts as the highest accepted one from now on. */
  to: number;
}

export const resetFloor = act({
  name: 'reset_floor',
  summary:
    'Lower the highest accepted number of a source, so that later transfers with lower numbers can be accepted again.',
  on: 'source/NAME',
  object: ({ name }: FloorReset) => `source/${name}`,
  gate: {
    kinds: ['sources'],
    async lines(tx, { name, to }: FloorReset) {
      const floor = (await tx.transferSources.find(name))?.floor ?? 0;
      const [from, lower] = [`number ${String(floor)}`, `number ${String(to)}; later numbers can be accepted again`];
      return [{ kind: 'sources', on: `source/${name}`, part: 'floor', from, to: lower }];
    },
  },

  async perform(tx, { name, to }: FloorReset, { note }) {
    const { floor } = await requireSource(tx, name);
    if (floor === to) throw new DoneAlready(undefined);
    if (to > floor) {
      throw new Refusal('conflict', `The highest accepted number of '${name}' is ${String(floor)}. Name a lower one.`);
    }
    note({ from: floor, to });
    await tx.transferSources.lowerFloor(name, to);
  },
});

export const distrustSource = act({
  name: 'distrust_source',
  summary: 'Stop trusting the transfers of a source; accepted content stays.',
  on: 'source/NAME',
  object: ({ name }: { name: string }) => `source/${name}`,
  gate: { never: 'a stolen key must stop counting at once' },

  async perform(tx, { name }: { name: string }) {
    const { floorInDoubt } = await requireSource(tx, name);
    await tx.transferSources.remove(name);
    // The floor is uncertain after a restore. It must stay so if the source is trusted again.
    if (floorInDoubt) await tx.appliance.set(doubtKept(name), inDoubt);
  },
});

/** Returns a trusted source; refuses an unknown name. */
async function requireSource({ transferSources }: ChangeRecords, name: string): Promise<TransferSource> {
  const source = await transferSources.find(name);
  if (source !== undefined) return source;
  throw new Refusal(
    'resource-not-found',
    `This site does not trust a source '${name}'. 'larder site show' lists the trusted sources.`,
  );
}
