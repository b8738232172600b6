// Who did something, as the audit log names him, in words: by user name, or as a command on the host, or the store itself.
import type { HandlerRecords } from '#api/handler-records.ts';

/** Names for account ids, for `cli:<user>`, and for what the store does of itself. */
export async function namesOf(
  actors: readonly (string | null)[],
  { accounts }: Pick<HandlerRecords, 'accounts'>,
): Promise<(actor: string | null) => string> {
  const found = await accounts.byIds([...new Set(actors)]);
  return (actor) => {
    if (actor === null) return 'nobody';
    if (actor === 'larder') return 'the store itself';
    if (actor.startsWith('cli:')) return `${actor.slice('cli:'.length)}, by a command on the host`;
    return found.get(actor)?.username ?? actor;
  };
}
