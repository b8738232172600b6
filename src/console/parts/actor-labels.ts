// Shows actors of the audit log by name: as a user name, a command on the host, or the store itself.
import type { HandlerRecords } from '#http/handler-records.ts';

/** Returns names for account ids, for `cli:<user>`, and for actions of the store itself. */
export async function readActorLabels(
  actors: readonly (string | null)[],
  { accounts }: Pick<HandlerRecords, 'accounts'>,
): Promise<(actor: string | null) => string> {
  const accountsById = await accounts.byIds([...new Set(actors)]);
  return (actor) => {
    if (actor === null) return 'nobody';
    if (actor === 'larder') return 'the store itself';
    if (actor.startsWith('cli:')) return `${actor.slice('cli:'.length)}, by a command on the host`;
    return accountsById.get(actor)?.username ?? actor;
  };
}
