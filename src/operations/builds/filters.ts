// What the listings of build records have in common.
import { parseChannel } from '#domain/channel.ts';

/** How many records are listed at most. */
export const newest = 500;

/** A channel filter by its full name: `edge` means `latest/edge`. What is no channel matches nothing. */
export const fullChannelName = (text: string | undefined): string | null =>
  text === undefined ? null : (parseChannel(text)?.name ?? text);
