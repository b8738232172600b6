// Parses the number of a rollout on a command line, and finds it.
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Rollout } from '#records/releases/rollouts.ts';
import { UsageError } from '../frame/command.ts';

export const rolloutArgument = {
  name: 'number',
  summary: "The number of the rollout, as 'larder rollout list' shows it.",
} as const;

/** Finds a rollout by its number, with its package. */
export async function findNumberedRollout(
  { rollouts, packages }: Pick<StoreRecords, 'packages' | 'rollouts'>,
  text: string,
): Promise<{ subject: PublishedPackage; rollout: Rollout }> {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`a rollout has a number such as 3, not '${text}'`);
  const rollout = await rollouts.find(Number(text));
  const subject = rollout && (await packages.byId(rollout.packageId));
  if (rollout !== undefined && subject !== undefined) return { subject, rollout };
  throw new Refusal('resource-not-found', `There is no rollout ${text}. 'larder rollout list' lists them.`);
}
