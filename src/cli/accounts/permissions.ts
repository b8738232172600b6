// larder permissions
import { asksAboutPackage, decideAccess, type AccessVerdict } from '#http/access-decision.ts';
import type { Operation } from '#http/operation.ts';
import { identityOperations } from '#identity/operations.ts';
import { readPrincipal } from '#operations/accounts/read-principal.ts';
import { operations } from '#operations/index.ts';
import { command, UsageError, type CommandResult } from '../frame/command.ts';
import { readSecret } from '../frame/stdin.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { parsePackageName } from '../packages/package-argument.ts';
import { parseChannelArgument } from '../releases/channel-arguments.ts';

export const permissions = command({
  name: 'permissions',
  summary:
    'Show which permission each operation needs and who may call it, or what an account may do to a package and ' +
    'why.',
  description:
    'Read from the same records that the server checks. A token without restrictions holds every permission; ' +
    'package-manage and package-view stand for all that begin with them. A store administrator acts as the publisher ' +
    'of every package with store-manage, and reads with store-view. With --package and --account, or a token on the ' +
    'standard input, it says for each operation yes or no, and the rule that decides.',
  options: {
    package: { type: 'string', value: 'NAMESPACE/NAME', summary: 'Check the operations on this package.' },
    account: {
      type: 'string',
      value: 'NAME',
      summary: 'Check this account, by user name or id, with a token that has no restrictions.',
    },
    'token-stdin': { type: 'boolean', summary: 'Check the token on standard input, with its restrictions.' },
    channel: { type: 'string', value: 'CHANNEL', summary: 'Check whether a revision can be released to this channel.' },
    operation: { type: 'string', value: 'NAME', summary: 'Show this operation alone.' },
  },
  examples: [
    'larder permissions',
    'larder permissions --account ada --package snap/hello --channel stable',
    'larder permissions --token-stdin --package snap/hello --operation push_revision',
  ],

  run({ options, data, world }) {
    if (options.package === undefined) {
      const without = (['account', 'channel', 'operation'] as const).find((name) => options[name] !== undefined);
      if (without !== undefined || options['token-stdin']) {
        throw new UsageError(`--${without ?? 'token-stdin'} goes with --package, such as snap/hello`);
      }
      return listPermissions();
    }
    if ((options.account === undefined) === !options['token-stdin']) {
      throw new UsageError('either --account or --token-stdin says who');
    }
    const subject = parsePackageName(options.package);
    const channel = options.channel === undefined ? undefined : parseChannelArgument(options.channel);
    const operationName = options.operation ?? (channel === undefined ? undefined : 'push_releases');
    const matchingOperations = operations.filter(
      (op) => asksAboutPackage(op) && (operationName === undefined || op.name === operationName),
    );
    if (matchingOperations.length === 0) {
      throw new UsageError(
        `no operation on packages is called '${operationName ?? ''}'; 'larder permissions' lists them`,
      );
    }
    return withStore({ data, world }, async (store) => {
      const principal =
        options.account === undefined
          ? await store.authority.authenticate([await readSecret(world.stdin, 'token')])
          : await readPrincipal(store.records, options.account);
      return explainPermissions(matchingOperations, { principal, subject, channel }, store);
    });
  },
});

async function explainPermissions(
  matchingOperations: readonly Operation[],
  question: Parameters<typeof decideAccess>[1],
  { records }: OpenStore,
): Promise<CommandResult> {
  const verdicts: AccessVerdict[] = [];
  for (const op of matchingOperations) verdicts.push(await decideAccess(op, question, records));
  return {
    text: table(
      ['OPERATION', 'MAY', 'BECAUSE'],
      verdicts.map(({ operation, allowed, because }) => [operation, allowed ? 'yes' : 'no', because]),
    ),
    json: { verdicts },
  };
}

function listPermissions(): CommandResult {
  const all = [...operations, ...identityOperations].map(shown);
  const rows = all.map(({ operation, method, path, permissions, who, since, 'enabled-by': key }) => [
    operation,
    permissions.length === 0 ? '-' : permissions.join(' or '),
    who,
    since === null ? '-' : String(since),
    `${method} ${path}${key === null ? '' : ` (only with ${key})`}`,
  ]);
  return { text: table(['OPERATION', 'PERMISSION', 'WHO', 'SINCE', 'ADDRESS'], rows), json: { operations: all } };
}

const shown = ({ name, method, path, access, since, enabledBy }: Operation) => ({
  operation: name,
  method,
  path,
  permissions: access.permissions,
  who: access.who,
  since: since === 0 ? null : since,
  'enabled-by': enabledBy ?? null,
});
