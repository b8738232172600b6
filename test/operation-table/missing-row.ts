// Reports the missing row of the table of operations: the file, and lines to copy into it.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Operation } from '#http/operation.ts';

/** Whether the row states requests to measure. */
export const isRead = ({ method }: Operation): boolean => method === 'GET';

/** Whether the row states what happens when the request is sent twice, and when the process is killed. */
export const isTriedTwice = ({ method, since }: Operation): boolean => method !== 'GET' && since === 0;

/** Names the place of the row. A test adds `rowToCopy` to its report. */
export const missingRow = (op: Operation): string =>
  `${op.name} has no row in ${fileOf(op)}; test/operation-table/operation-table.test.ts shows what to add`;

export const missingLine = (op: Operation, member: 'reads' | 'writes'): string =>
  `the row of ${op.name} in ${fileOf(op)} has no ${member}`;

export function readsToCopy({ path }: Operation): string {
  return `    reads: () => [{ as: '…', path: '${withPlaceholders(path)}' }], // ada, bob or root; see reads.ts`;
}

export function writesToCopy({ method, path }: Operation): string {
  const send = `request(ada, '${method}', '${withPlaceholders(path)}', { '…': '…' })`;
  return `    writes: once(async ({ ada }, n) => ${send}), // or each(…), or a sentence; see writes.ts`;
}

/** The row states the intention: a test compares the code with it, so only the name and the path come from the code. */
export function rowToCopy(op: Operation): string {
  return [
    `  ${op.name}: {`,
    "    about: '…', // public, token, packages, package, collaborators or store",
    "    callers: '…', // a choice of Callers in row.ts",
    "    needs: ['…'], // any one of these permissions is enough; remove the line if none is needed",
    "    administrator: '…', // store-view or store-manage; remove the line unless the operation is about a package",
    ...(isRead(op) ? [readsToCopy(op)] : []),
    ...(isTriedTwice(op) ? [writesToCopy(op)] : []),
    '  },',
  ].join('\n');
}

const withPlaceholders = (path: string): string => path.replace(/:\w+/g, '…');

/** The rows stand in the file of the subject, which is the folder of the record in src/operations. */
function fileOf({ name }: Operation): string {
  const folder = join(import.meta.dirname, '../../src/operations');
  const file = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('/') && path.endsWith('.ts'))
    .find((path) => readFileSync(join(folder, path), 'utf8').includes(`'${name}'`));
  // The identity provider is not in src/operations; its rows are in the file of logins.
  return `test/operation-table/${file?.split('/')[0] ?? 'login'}.ts`;
}
