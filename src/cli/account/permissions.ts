// larder permissions
import type { Operation } from '#api/operation.ts';
import { identityOperations } from '#identity/operations.ts';
import { operations } from '#operations/index.ts';
import { command } from '../frame/command.ts';
import { table } from '../frame/terminal.ts';

export const permissions = command({
  name: 'permissions',
  summary: 'Show which operation needs which permission, and who may call it.',
  description:
    'Read from the same records that the server checks. A token without restrictions holds every permission; ' +
    'package-manage and package-view stand for all that begin with them. A store administrator acts as the publisher ' +
    'of every package with store-manage, and reads with store-view.',
  examples: ['larder permissions', 'larder permissions --json'],

  run() {
    const all = [...operations, ...identityOperations].map(shown);
    const rows = all.map(({ operation, method, path, permissions, who, since, 'enabled-by': key }) => [
      operation,
      permissions.length === 0 ? '-' : permissions.join(' or '),
      who,
      since === null ? '-' : String(since),
      `${method} ${path}${key === null ? '' : ` (only with ${key})`}`,
    ]);
    return {
      text: table(['OPERATION', 'PERMISSION', 'WHO', 'SINCE', 'ADDRESS'], rows),
      json: { operations: all },
    };
  },
});

const shown = ({ name, method, path, access, since, enabledBy }: Operation) => ({
  operation: name,
  method,
  path,
  permissions: access.permissions,
  who: access.who,
  since: since === 0 ? null : since,
  'enabled-by': enabledBy ?? null,
});
