import t from 'tap';

import { requestIds } from '#assertions/devices/request-ids.ts';

const moment = new Date('2026-03-01T12:00:00Z');
const later = (minutes: number): Date => new Date(moment.getTime() + minutes * 60_000);

t.test('a request-id is valid for an hour, unchanged, in its own store', (t) => {
  const ids = requestIds(Buffer.alloc(32, 1));
  const id = ids.make(moment);
  t.match(id, /^[\w-]{48}$/);
  t.not(ids.make(moment), id);
  for (const minutes of [0, 59, -59]) t.ok(ids.holds(id, later(minutes)), String(minutes));
  for (const minutes of [60, 600, -60]) t.notOk(ids.holds(id, later(minutes)), String(minutes));
  t.ok(requestIds(Buffer.alloc(32, 1)).holds(id, moment), 'also after a restart');
  t.notOk(requestIds(Buffer.alloc(32, 2)).holds(id, moment));
  for (let at = 0; at < id.length; at++) {
    const changed = id.slice(0, at) + (id[at] === 'A' ? 'B' : 'A') + id.slice(at + 1);
    t.notOk(ids.holds(changed, moment), `changed at ${at}`);
  }
  for (const other of ['', 'x', `${id}A`, `${id}=`, ` ${id}`, id.slice(1)]) t.notOk(ids.holds(other, moment), other);
  t.end();
});
