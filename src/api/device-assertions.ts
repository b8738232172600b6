// The assertions that a device may read: it reaches them through this rule, and no other.
import { parseAssertion, type Assertion } from '#assertions/assertion.ts';
import type { KeptAssertion } from '#records/assertions.ts';
import type { Records } from '#records/index.ts';
import type { Access } from './access.ts';
import { device, reservedFor, type Device, type DeviceEvidence } from './device-access.ts';

export interface ReadableAssertion {
  readonly name: string;
  readonly text: string;
  readonly assertion: Assertion;
  /** Whether only some may read it, so that no cache may give it to others. */
  readonly confidential: boolean;
}

/** The way to assertions; those that a device may not read are not there. */
export interface AssertionsForDevice {
  /** Those of these names, in their order. */
  listOf(names: readonly string[]): Promise<ReadableAssertion[]>;
  /** The newest of an account's validation sets of this name. */
  newestOfSet(accountId: string, setName: string): Promise<ReadableAssertion | undefined>;
}

/** Any device, and the assertions that it may read. */
export const assertionsForDevice: Access<DeviceEvidence & { assertions: AssertionsForDevice }> = {
  ...device,
  async admit(asked) {
    const evidence = await device.admit(asked);
    return { ...evidence, assertions: assertionsFor(evidence.device, asked.records) };
  },
};

/** The same for rules that supply more than assertions. */
export function assertionsFor(asks: Device | undefined, records: Pick<Records, 'assertions' | 'packages'>) {
  const readable = async ({ name, text }: KeptAssertion): Promise<ReadableAssertion | undefined> => {
    const assertion = parseAssertion(text);
    const brand = await readersOf(assertion, records);
    if (brand !== undefined && brand !== asks?.brand) return undefined;
    return { name, text, assertion, confidential: brand !== undefined };
  };
  return {
    async listOf(names: readonly string[]) {
      const kept = await Promise.all((await records.assertions.listOf(names)).map(readable));
      return kept.filter((one) => one !== undefined);
    },
    async newestOfSet(accountId: string, setName: string) {
      const kept = await records.assertions.newestOfSet(accountId, setName);
      return kept && readable(kept);
    },
  };
}

/**
 * Whose devices alone may read an assertion: a brand; nothing where anybody may. What speaks of a private snap is as
 * private as that.
 */
async function readersOf(
  { type, headers }: Assertion,
  { packages }: Pick<Records, 'packages'>,
): Promise<string | undefined> {
  const [brand, snapId] = [headers['brand-id'], headers['snap-id']];
  if ((type === 'serial' || type === 'system-user') && typeof brand === 'string') return brand;
  const snap = typeof snapId === 'string' ? await packages.byId(snapId) : undefined;
  return snap && reservedFor(snap);
}
