import { asksAboutPackage, asksForOthers } from '#http/access-decision.ts';
import { operation, type Operation } from '#http/operation.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import { readPrincipal } from '../accounts/read-principal.ts';

/** Takes a function, because the list of all operations contains this one. */
export const explainAccess = (operations: () => readonly Operation[]) =>
  operation({
    name: 'explain_access',
    method: 'GET',
    path: '/internal/v1/explain-access',
    since: 0,
    summary: 'Explain the access of an account to a package: the deciding rule for each operation.',
    access: asksForOthers,
    query: 'ExplainAccessQuery',
    response: 'ExplainAccessResponse',
    refuses: ['account-not-found', 'conflict'],

    async handle({ query, records, mayCall }) {
      const [namespace = '', name = ''] = query.package.split('/');
      const channel = query.channel === undefined ? undefined : parseChannel(query.channel);
      if (query.channel !== undefined && channel === undefined) {
        throw new Refusal('api-error', 'This is not a channel at /channel');
      }
      const operationName = query.operation ?? (channel === undefined ? undefined : 'push_releases');
      const selected = operations().filter(
        (op) => asksAboutPackage(op) && (operationName === undefined || op.name === operationName),
      );
      if (selected.length === 0) throw new Refusal('api-error', 'No operation on packages is called so at /operation');
      const question = {
        principal: await readPrincipal(records, query.account),
        subject: { namespace, name },
        channel,
      };
      const verdicts = [];
      for (const op of selected) verdicts.push(await mayCall(op, question));
      return { verdicts };
    },
  });
