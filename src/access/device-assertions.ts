// The assertions that a device or the account of a token may read; the interface for devices reaches them only through this access rule.
import { parseAssertion, type Assertion } from '#assertions/format/assertion.ts';
import type { StoredAssertion } from '#records/assertions/assertions.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Access } from './access-rules.ts';
import { device, type DeviceEvidence, type DeviceRights } from './device-access.ts';

export interface ReadableAssertion {
  readonly name: string;
  readonly text: string;
  readonly assertion: Assertion;
  /** Whether only some devices may read it, so that a shared cache must not store it. */
  readonly confidential: boolean;
}

/** Finds assertions; if the device may not read one, it does not exist. */
export interface AssertionsForDevice {
  /** The assertions with these names, in the same order. */
  listOf(names: readonly string[]): Promise<ReadableAssertion[]>;
  /** The newest validation set of an account with this name. */
  newestOfSet(accountId: string, setName: string): Promise<ReadableAssertion | undefined>;
}

/** Admits any device, and supplies the assertions that it may read. */
export const assertionsForDevice: Access<DeviceEvidence & { assertions: AssertionsForDevice }> = {
  ...device,
  async admit(accessRequest) {
    const evidence = await device.admit(accessRequest);
    return { ...evidence, assertions: assertionsFor(evidence.rights, accessRequest.records) };
  },
};

/** Returns the functions that read assertions with the rights of a device, for access rules that supply more than assertions. */
export function assertionsFor(rights: DeviceRights, records: Pick<StoreRecords, 'assertions' | 'packages'>) {
  const readable = async (stored: readonly StoredAssertion[]): Promise<ReadableAssertion[]> => {
    const all = stored.map(({ name, text }) => ({ name, text, assertion: parseAssertion(text) }));
    const ids = [...new Set(all.flatMap(({ assertion }) => snapsNamed(assertion)))];
    const confined = ids.length === 0 ? [] : await records.packages.privateAmong(ids);
    const secret = new Map<string, boolean>();
    for (const snap of confined) secret.set(snap.id, (await rights.reachOf(snap)) !== undefined);
    return all.flatMap((entry) => {
      const brand = brandReading(entry.assertion);
      const reached = snapsNamed(entry.assertion).flatMap((id) => secret.get(id) ?? []);
      const mayRead = (brand === undefined || rights.coversBrand(brand)) && !reached.includes(false);
      return mayRead ? [{ ...entry, confidential: brand !== undefined || reached.length > 0 }] : [];
    });
  };
  return {
    listOf: async (names: readonly string[]) => readable(await records.assertions.listOf(names)),
    async newestOfSet(accountId: string, setName: string) {
      const newest = await records.assertions.newestOfSet(accountId, setName);
      return newest && (await readable([newest])).at(0);
    },
  };
}

/** The brand, if only its devices may read the assertion; undefined if other devices may read it too. */
function brandReading({ type, headers }: Assertion): string | undefined {
  const brand = headers['brand-id'];
  return (type === 'serial' || type === 'system-user') && typeof brand === 'string' ? brand : undefined;
}

/** The ids of the snaps in an assertion: if one of them is private, the assertion is private too. */
function snapsNamed({ type, headers }: Assertion): string[] {
  const { 'snap-id': snapId, 'approved-snap-id': other, snaps } = headers;
  const ofSet: readonly unknown[] = type === 'validation-set' && Array.isArray(snaps) ? snaps : [];
  const ids = ofSet.map((snap) => (snap as { id?: unknown } | null)?.id);
  return [snapId, other, ...ids].filter((id) => typeof id === 'string');
}
