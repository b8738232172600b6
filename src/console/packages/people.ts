// Who did something, by name: the records have accounts by their ids, and whoever works on the host as `cli:<user>`.
import type { HandlerRecords } from '#api/handler-records.ts';

export type Names = (actor: string | null) => string;

/** Names these actors; one that is no account is named as the audit log does. */
export async function namesOf(
  { accounts }: Pick<HandlerRecords, 'accounts'>,
  actors: readonly (string | null)[],
): Promise<Names> {
  const people = await accounts.byIds([...actors]);
  return (actor) => {
    if (actor === null) return 'Not known';
    if (actor.startsWith('cli:')) return `${actor.slice('cli:'.length)}, on the host`;
    return people.get(actor)?.username ?? actor;
  };
}
