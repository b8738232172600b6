// What a release changes, in lines that others approve of.
import { channelLine, type Line } from '#domain/approvals.ts';
import { isProgressive } from '#domain/channel-map.ts';
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';

/** What a slot is told to hold: a revision with its resources, to everybody or to some. */
type Held = Pick<Release, 'revision' | 'resources' | 'progressive'>;

/** What a slot holds in words: `7`, or `7, and 8 for 20 %`; nothing where it is empty. */
export function heldInWords(held: readonly Held[]): string | null {
  return held.length === 0 ? null : [...held].sort(byReach).map(inWords).join(', and ');
}

const byReach = (one: Held, other: Held): number =>
  Number(isProgressive(one.progressive)) - Number(isProgressive(other.progressive));

function inWords({ revision, resources, progressive: { percentage, paused } }: Held): string {
  const named = resources.map(({ name, revision: number }) => `${name} ${number === null ? 'none' : String(number)}`);
  const share = percentage === null ? '' : ` for ${String(percentage)} %${paused === true ? ', paused' : ''}`;
  return `${String(revision)}${named.length === 0 ? '' : ` with ${named.join(', ')}`}${share}`;
}

/** The line of one slot of a channel. */
export const slotLine = (
  subject: Pick<PublishedPackage, 'namespace' | 'name'>,
  channel: string,
  slot: string,
  change: Pick<Line, 'from' | 'to'>,
): Line => channelLine(subject, { channel, part: slot === '*' ? null : slot, ...change });

/** Whether what a proposal would change is as it was when it was proposed, as far as it is about channels. */
export async function stillHold(tx: Changes, lines: readonly Line[], at: string): Promise<boolean> {
  const channels = new Map<string, Release[]>();
  for (const { kind, on, part, from } of lines) {
    if (kind !== 'releases') continue;
    const held = channels.get(on) ?? (await inChannel(tx, on, at));
    channels.set(on, held);
    if (heldInWords(held.filter(({ slot }) => slot === (part ?? '*'))) !== from) return false;
  }
  return true;
}

async function inChannel(tx: Changes, on: string, at: string): Promise<Release[]> {
  const [subject = '', channel = ''] = on.split(':');
  const [namespace = '', name = ''] = subject.split('/');
  const found = await tx.packages.find(namespace, name);
  return found === undefined ? [] : tx.releases.inChannel(found.id, channel, at);
}
