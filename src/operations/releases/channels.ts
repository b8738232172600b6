// The channels that a request names: what each is, and whether the token reaches it.
import { parseChannel, type Channel } from '#domain/channel.ts';
import { reachesChannel, type Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';

/** A channel as somebody wrote it; refused when it is none. */
export function readChannel(text: string): Channel {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel;
  throw new Refusal(
    'api-error',
    `'${text}' is not a channel; write risk, track/risk or track/risk/branch, such as latest/edge.`,
  );
}

/** Refuses a token that is good for other channels alone. */
export function refuseOutOfReach(principal: Principal, channel: Channel): void {
  if (reachesChannel(principal, channel)) return;
  throw new Refusal('permission-required', `This token may not release to the channel '${channel.name}'.`);
}
