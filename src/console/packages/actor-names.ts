// Names actors on pages: the records contain account ids, and `cli:<user>` for users of the host.
import type { HandlerRecords } from '#http/handler-records.ts';

export type ConsoleActorNames = (actor: string | null) => string;

/** Names these actors; an actor without an account keeps the name of the audit log. */
export async function readActorNames(
  { accounts }: Pick<HandlerRecords, 'accounts'>,
  actors: readonly (string | null)[],
): Promise<ConsoleActorNames> {
  const people = await accounts.byIds([...actors]);
  return (actor) => {
    if (actor === null) return 'Not known';
    if (actor.startsWith('cli:')) return `${actor.slice('cli:'.length)}, on the host`;
    return people.get(actor)?.username ?? actor;
  };
}
