// Parses the channels in a request, and checks whether the token reaches them.
import { parseChannel, type Channel } from '#domain/releases/channel.ts';
import { reachesChannel, type Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';

/** Parses a channel; throws if it is invalid. */
export function readChannel(text: string): Channel {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel;
  throw new Refusal(
    'api-error',
    `'${text}' is not a channel; write risk, track/risk or track/risk/branch, such as latest/edge.`,
  );
}

/** Refuses a token that is limited to other channels. */
export function refuseOutOfReach(principal: Principal, channel: Channel): void {
  if (reachesChannel(principal, channel)) return;
  throw new Refusal('permission-required', `This token may not release to the channel '${channel.name}'.`);
}
