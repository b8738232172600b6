// Known vulnerabilities in the console: on the page of a package, on a page for the store, and their acceptance.
import t from 'tap';

import { startConsole } from '../world.ts';
import { advisory, newSsl, oldSsl, publish, snapOf, withFeeds } from '#test/operations/vulnerabilities/world.ts';

t.test('people see vulnerabilities in the console, and an administrator accepts them', async (t) => {
  const store = await startConsole(t);
  const world = await withFeeds(t, store);
  await publish(world, 'snap', 'hello', {
    'latest/stable': snapOf('hello', '1', `libssl3=${oldSsl}`),
    'latest/edge': snapOf('hello', '2', `libssl3=${newSsl}`),
  });
  await publish(world, 'snap', 'silent', { 'latest/stable': snapOf('silent', '1') });
  await publish(world, 'snap', 'torn', { 'latest/stable': snapOf('torn', '1', `libssl3=${newSsl}, torn`) });
  await world.advisories([advisory(1001), advisory(1002, 'low')]);
  await world.exploited(['CVE-2026-1002']);
  await world.record();
  const [ada, bob, root] = [await store.visit('ada'), await store.visit('bob'), await store.visit('root')];
  const atPackage = '/console/packages/snap/hello';
  const at = `${atPackage}/vulnerabilities/CVE-2026-1001`;

  await t.test('the page of a package has its findings, the highest risk first', async (t) => {
    t.match((await ada.open(atPackage)).text, /2 known vulnerabilities Channels/);
    const { text } = await ada.open(`${atPackage}/vulnerabilities`);
    t.match(
      text,
      /CVE-2026-1002 low known to be exploited Revision 1 latest\/stable libssl3 3\.0\.2-0ubuntu1\.1 3\.0\.2-0ubuntu1\.20 unknown open CVE-2026-1001 high/,
    );
    t.match(
      (await ada.open('/console/packages/snap/silent/vulnerabilities')).text,
      /not known to be free of vulnerabilities: Revision 1: Unknown: it lists no contents\./,
    );
    t.equal((await bob.open(at)).status, 404);
  });

  await t.test('the page of the store counts them by package, and says how much is covered', async (t) => {
    const { text, html } = await root.open('/console/vulnerabilities');
    t.match(text, /2 open findings, 1 known to be exploited\./);
    t.match(text, /Released revisions that feeds cover 2 Partly covered 1 Not covered by a feed 0 Unknown contents 1/);
    t.match(text, /snap\/hello 1 0 1 1 0/);
    t.match(html, /href="\/console\/packages\/snap\/hello"/);
    t.match(text, /SHA-256 .* in force .* Import a feed on the host/);
    t.match(text, 'larder feed import ./ubuntu-osv.zip');
    t.equal((await ada.open('/console/vulnerabilities')).status, 403);
  });

  await t.test('an administrator accepts one until a date, with a reason, and withdraws that', async (t) => {
    t.notMatch((await ada.open(at)).html, /<form[^>]*accept/, 'a publisher cannot');
    const page = await root.open(at);
    t.match(page.text, /CVE-2026-1001 of snap\/hello UBUNTU-CVE-2026-1001 in words Severity high/);
    const until = new Date(store.clock.now.getTime() + 30 * 86_400_000).toISOString().slice(0, 10);
    t.match((await root.send(page, `${at}/accept`, { until: 'soon', reason: 'x' })).text, /The end is a date/);
    const accepted = await root.send(page, `${at}/accept`, { until, reason: 'The port is closed.' });
    t.match(accepted.text, /The vulnerability is accepted until the date\./);
    t.match(accepted.text, /Accepted until .*, by root, .*: The port is closed\./);
    t.match(
      (await root.open('/console/vulnerabilities')).text,
      /1 open finding, .*CVE-2026-1001 snap\/hello high .*The port is closed\./,
    );
    const metrics = String((await store.anyone.get('/metrics')).body);
    t.match(metrics, /^larder_findings\{severity="low"\} 1$/m);
    t.match(metrics, /^larder_findings\{severity="high"\} 0$/m);
    t.match(metrics, /^larder_findings_known_exploited 1$/m);
    t.match(metrics, /^larder_findings_accepted 1$/m);
    t.match(metrics, /^larder_feed_timestamp_seconds\{source="ubuntu"\} \d{10}$/m);
    t.match(metrics, /^larder_finding_coverage\{coverage="covered"\} 2$/m);
    t.match(metrics, /^larder_finding_coverage\{coverage="no-bill"\} 1$/m);
    t.match(metrics, /^larder_finding_coverage\{coverage="partly-covered"\} 1$/m);
    const withdrawn = await root.send(accepted, `${at}/withdraw`);
    t.match(withdrawn.text, /The acceptance is withdrawn\./);
    t.match(String((await store.anyone.get('/metrics')).body), /^larder_findings\{severity="high"\} 1$/m);
  });
});
