// Shared by the listings of build records.
import { parseChannel } from '#domain/releases/channel.ts';

/** Maximum number of listed records. */
export const newest = 500;

/** A channel filter as a full channel name: `edge` means `latest/edge`. An invalid channel matches nothing. */
export const fullChannelName = (text: string | undefined): string | null =>
  text === undefined ? null : (parseChannel(text)?.name ?? text);
