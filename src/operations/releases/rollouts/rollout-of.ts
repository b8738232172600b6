// Finds the rollout that the path of an operation names.
import { Refusal } from '#domain/refusal.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { reachesChannel, type Principal } from '#domain/tokens/principal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Rollout } from '#records/releases/rollouts.ts';

interface RolloutCall {
  package: PublishedPackage;
  params: { number: string };
  records: Pick<StoreRecords, 'rollouts'>;
  principal: Principal;
}

/** The rollout of the package with this number; refuses an unknown one. */
export async function findRollout({
  package: subject,
  params,
  records,
}: Omit<RolloutCall, 'principal'>): Promise<Rollout> {
  const number = /^[1-9]\d{0,8}$/.test(params.number) ? Number(params.number) : 0;
  const rollout = await records.rollouts.find(number);
  if (rollout?.packageId === subject.id) return rollout;
  throw new Refusal(
    'resource-not-found',
    `${subject.namespace}/${subject.name} has no rollout '${params.number.slice(0, 20)}'. List its rollouts first.`,
  );
}

/** Like `findRollout`, but refuses a token that is limited to other channels. */
export async function findRolloutInReach(call: RolloutCall): Promise<Rollout> {
  const rollout = await findRollout(call);
  const channel = parseChannel(rollout.channel);
  if (channel !== undefined && reachesChannel(call.principal, channel)) return rollout;
  throw new Refusal('permission-required', `This token may not release to the channel '${rollout.channel}'.`);
}
