// Every operation has one row in the table. The tests of access and of repeated writes and the benchmark of reads use
// the rows.
import t from 'tap';

import type { Operation } from '#http/operation.ts';
import { identityOperations } from '#identity/operations.ts';
import { operations } from '#operations/index.ts';
import type { World } from '#test/bench/harness/measured.ts';
import { operationTable, rowsBySubject } from './index.ts';
import { isRead, isTriedTwice, missingLine, missingRow, readsToCopy, rowToCopy, writesToCopy } from './missing-row.ts';
import type { OperationRow } from './row.ts';

const everyOperation = [...operations, ...identityOperations];

/** Lines to copy; the report prints them one below the other. */
const toAdd = (lines: string): { add: string } => ({ add: `replace each …\n${lines}\n` });

const textOf = (row: OperationRow): string =>
  [
    JSON.stringify(row),
    String(row.reads),
    typeof row.writes === 'object' ? String(row.writes.ask) : String(row.writes),
  ].join('\n');

const world: World = {
  tokens: { ada: 'ada', bob: 'bob', root: 'root' },
  ids: { ada: 'a', bob: 'b', snap: 's', charm: 'c', upload: 'u', library: 'l', pages: 'p' },
  icon: 'i',
  login: { image: 'image', username: 'ada', password: 'secret' },
  image: { manifest: 'm', blob: 'b' },
};

const pathPattern = ({ path }: Operation): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`);

t.test('every operation has a row, and every row an operation', (t) => {
  for (const op of everyOperation) {
    const hasRow = operationTable.has(op.name);
    t.ok(hasRow, hasRow ? op.name : missingRow(op), hasRow ? {} : toAdd(rowToCopy(op)));
  }
  const names = Object.values(rowsBySubject).flatMap((rows) => Object.keys(rows));
  t.same(names.toSorted(), everyOperation.map(({ name }) => name).toSorted());
  t.end();
});

t.test('a row states requests to measure for a GET, and requests to repeat for a writing operation of our own', (t) => {
  for (const op of everyOperation) {
    const row = operationTable.get(op.name);
    if (row === undefined) continue;
    const lacksReads = isRead(op) && row.reads === undefined;
    t.notOk(lacksReads, lacksReads ? missingLine(op, 'reads') : op.name, lacksReads ? toAdd(readsToCopy(op)) : {});
    t.ok(isRead(op) || row.reads === undefined, `${op.name}: only a GET is measured`);
    const isTried = isTriedTwice(op) && !identityOperations.includes(op);
    const lacksWrites = isTried && row.writes === undefined;
    t.notOk(lacksWrites, lacksWrites ? missingLine(op, 'writes') : op.name, lacksWrites ? toAdd(writesToCopy(op)) : {});
    t.ok(isTried || row.writes === undefined, `${op.name}: only a writing operation of our own is repeated`);
    t.notMatch(textOf(row), /…/, `${op.name}: every placeholder is replaced`);
  }
  t.end();
});

t.test('each request to measure asks the operation of its row', (t) => {
  for (const op of everyOperation.filter(isRead)) {
    const requests = operationTable.get(op.name)?.reads?.(world, { token: 'token', upload: 'upload' }) ?? [];
    t.ok(requests.length > 0, op.name);
    for (const { path } of requests) t.match(path.replace(/\?.*/, ''), pathPattern(op), `${op.name}: ${path}`);
  }
  t.end();
});
