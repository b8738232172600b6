// The audit log on its page: its readers, the entries for each reader, search and pages, and the result of its check.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { itself } from '#acts/act.ts';
import { changeRole } from '#acts/accounts/accounts.ts';
import { recordRecordsCheck } from '#acts/store/integrity.ts';
import { days, minutes } from '#domain/clock.ts';
import { larder } from '#test/cli/world.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { startConsole } from '#test/console/world.ts';

const nasty = `<b>"x"</b>'javascript:`;

t.test('the audit log in the console', async (t) => {
  const store = await startConsole(t);
  const { records } = store.beside;
  await store.join('carol');
  const at = (): string => store.clock.now.toISOString();
  const entry = (object: string, action = 'register_name') => ({ at: at(), actor: store.ids.bob, action, object });
  await records.change(entry('account/carol', 'change_role'), (tx) =>
    tx.accounts.assign(store.ids['carol']!, 'auditor', at()),
  );
  let root = await store.visit('root');
  const [ada, carol] = [await store.visit('ada'), await store.visit('carol')];

  await t.test('is for administrators and auditors', async (t) => {
    t.equal((await store.visitor().open('/console/audit')).status, 401);
    t.match(await ada.open('/console/audit'), {
      status: 403,
      text: /Only a store administrator may do this, or an account that is auditor/,
    });
    t.notMatch((await ada.open('/console')).html, /console\/audit/);
    for (const visitor of [root, carol])
      t.match(await visitor.open('/console/audit'), { status: 200, text: /What was done/ });
    t.match((await carol.open('/console')).html, /href="\/console\/audit"/);
  });

  await t.test('shows whether it is intact, and its head', async (t) => {
    t.match((await root.open('/console/audit')).text, /not been verified yet/);
    await store.beside.acts.do(recordRecordsCheck, itself, {
      result: { at: at(), problems: 0, pages: 0, rows: 0 },
      first: [],
    });
    store.clock.advance(minutes(20));
    const page = await root.open('/console/audit');
    t.match(page.text, /The log was intact at its last verification, 20 minutes ago\./);
    const head = (await records.audit.head())!;
    t.match(page.text, `larder audit verify --head ${String(head.seq)}:${head.hash}`);
    t.match(page.text, /Last seal entry \d+, of 2026-03-01 12:00 UTC/);
  });

  await t.test(
    'tells each entry as a sentence below its day, with its details and a way to the same act',
    async (t) => {
      await records.change(
        {
          ...entry('snap/hello', 'push_releases'),
          details: {
            releases: [
              ['latest/stable', 2],
              ['latest/edge', null],
            ],
          },
        },
        (tx) => filler(tx, at()).package({ id: 'hello', name: 'hello', publisherId: store.ids.bob }),
      );
      const page = await root.open('/console/audit?object=snap%2Fhello');
      t.match(
        page.text,
        /Matching entries .* Sunday, 1 March 2026 \w bob released snap\/hello 2 to latest\/stable and closed latest\/edge of snap\/hello \. 12:20:00 UTC Details of entry \d+/,
      );
      t.match(page.html, 'href="/console/packages/snap/hello"');
      const [, sameAct = ''] = /href="(\/console\/audit\?act=push_releases)"/.exec(page.html) ?? [];
      t.match((await root.open(sameAct)).text, /released snap\/hello 2/);
      const oldest = await root.open('/console/audit?sort=number&from=2026-03-01');
      t.match(oldest.text, /Show the newest first .* 2026 T test created ada \./);
      t.match(oldest.text, 'larder audit report --from 2026-03-01 --csv ./audit.csv');
    },
  );

  await t.test('is searched by actor, act, object and time, and every text in it is text', async (t) => {
    await records.change({ ...entry(`snap/${nasty}`), details: { why: nasty } }, async (tx) => {
      await tx.accounts.update({ ...(await tx.accounts.find(store.ids.bob))!, displayName: nasty });
    });
    const narrowed = await root.open(
      `/console/audit?${new URLSearchParams({ actor: store.ids.bob, act: 'register_name' }).toString()}`,
    );
    t.match(narrowed.text, `snap/${nasty}`);
    t.notMatch(narrowed.html, '/console/packages/snap/', 'a name that is not registered has no page');
    t.notMatch(narrowed.html, '<b>"x"');
    t.notMatch(narrowed.html, /href="javascript/);
    t.match(narrowed.html, /<details>/);
    t.notMatch(narrowed.text, /account\/carol/);
    const [, link = ''] = /href="(\/console\/audit\?object=snap[^"]*)"/.exec(narrowed.html) ?? [];
    t.match((await root.open(link.replaceAll('&#39;', "'"))).text, `snap/${nasty}`, 'the history of an object');
    t.match(await root.open('/console/audit?object=snap%2Fnone'), {
      status: 200,
      text: /The audit log has no such entry/,
    });

    store.clock.advance(days(1));
    root = await store.visit('root');
    await records.change(entry('snap/next-day'), async () => undefined);
    const first = await root.open('/console/audit?from=2026-03-01&to=2026-03-01&actor=&act=&object=');
    t.match(first.text, /account\/carol/);
    t.notMatch(first.text, /next-day/);
    const second = await root.open('/console/audit?from=2026-03-02&to=');
    t.match(second.text, /next-day/);
    t.notMatch(second.text, /account\/carol/);
    t.match(await root.open('/console/audit?from=2026-02-31'), { status: 400, text: /no day such as/ });
  });

  await t.test('shows the name of an act for a former word, and is searched by both', async (t) => {
    await records.change(entry('snap/older', 'guardrail add'), async () => undefined);
    for (const word of ['guardrail add', 'add_guardrail']) {
      const page = await root.open(`/console/audit?${new URLSearchParams({ act: word }).toString()}`);
      t.match(page.html, '<a href="/console/audit?act=add_guardrail">add_guardrail</a>');
      t.match(page.html, /<option[^>]* selected[^>]*>add_guardrail</);
      t.notMatch(page.html, 'guardrail add');
    }
    t.match(await root.open('/console/audit?act=gardrail'), { status: 400, text: /There is no act 'gardrail'/ });
  });

  await t.test('has fifty entries a page', async (t) => {
    for (let at = 0; at < 51; at++) await records.change(entry('snap/many', 'release'), async () => undefined);
    const first = await root.open('/console/audit?object=snap%2Fmany');
    t.equal(first.html.match(/>snap\/many<\/a> *<\/dd>/g)?.length ?? 0, 50);
    const [, next = ''] = /<a href="([^"]+)" rel="next">Next page/.exec(first.html) ?? [];
    const second = await root.open(next.replaceAll('&amp;', '&'));
    t.equal(second.html.match(/>snap\/many<\/a> *<\/dd>/g)?.length ?? 0, 1);
    t.ok(first.html.length < 200 * 1024);
  });
});

t.test('the audit log is downloaded as the command writes it, and the export is in the log', async (t) => {
  const store = await startConsole(t);
  await store.join('dave');
  await store.beside.acts.do(changeRole, itself, { id: store.ids['dave'] ?? '', role: 'auditor', remove: false });
  const dave = await store.visit('dave');
  const form = '/console/audit/export';
  const file = join(t.testdir(), 'audit.jsonl');
  const downloaded = await dave.send(await dave.open('/console/audit'), form);
  t.match(downloaded.headers.get('content-disposition'), /^attachment; filename="?audit-1-\d+\.jsonl/);
  await larder(`audit export ${file} --data ${store.directory}`);
  const written = readFileSync(file, 'utf8');
  t.ok(downloaded.html.length > 1000);
  t.equal(written.slice(0, downloaded.html.length), downloaded.html, 'the same lines');
  const last = downloaded.html.trim().split('\n').length;
  const { exports } = (await (await store.as('root')).get('/internal/v1/exports')).body as {
    exports: { what: string; name: string; actor: string; sha256: string; bytes: number }[];
  };
  const own = exports.find(({ actor }) => actor === store.ids['dave']);
  t.match(own, { what: 'audit log', name: `1 to ${String(last)}`, bytes: Buffer.byteLength(downloaded.html) });
  t.equal(own?.sha256, createHash('sha256').update(downloaded.html).digest('hex'));

  const rest = await dave.send(await dave.open('/console/audit'), form, { after: String(last) });
  t.match(JSON.parse(rest.html.split('\n')[0] ?? ''), { seq: last + 1 });
  const none = await dave.send(await dave.open('/console/audit'), form, { after: '100000' });
  t.match(none, { status: 409, text: /The last entry is \d+\./ });
  t.match(none.html, 'value="100000"', 'the input is there again');
  t.equal((await dave.send(await dave.open('/console/audit'), form, { after: 'x' })).status, 400);
  const ada = await store.visit('ada');
  const page = await dave.open('/console/audit');
  t.equal((await ada.send(page, form)).status, 403, 'a publisher');
});
