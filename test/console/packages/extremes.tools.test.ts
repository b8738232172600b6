// Pages of packages and transfers with content of extreme size and shape, as a browser shows them.
import t from 'tap';

import { faultsOf, needsBrowser, openBrowser, views } from '#test/fixtures/clients/browser.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole, type Visitor } from '#test/console/world.ts';
import { receiving } from '#test/console/transfers/carrying.ts';

t.setTimeout(1_200_000);

/** Opens the pages on a desktop and on a dark phone; returns what axe finds, and pages wider than the screen. */
async function faultsIn(
  t: Parameters<typeof openBrowser>[0],
  visitor: Visitor,
  pages: { url: string; paths: readonly string[] },
): Promise<string[]> {
  const [name = '', value = ''] = visitor.cookie.split(/=(.*)/s);
  const browser = await openBrowser(t);
  const faults: string[] = [];
  for (const { name: view, width, height, colorScheme } of [views[0], views[3]]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, bypassCSP: true });
    await context.addCookies([{ name, value, url: pages.url }]);
    const page = await context.newPage();
    for (const path of pages.paths) {
      const reply = await page.goto(pages.url + path);
      if (reply?.status() !== 200) faults.push(`${view}: ${path} has ${String(reply?.status())}`);
      for (const fault of await faultsOf(page)) faults.push(`${view}: ${path}: ${fault}`);
      // Folded parts are content too.
      await page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
      for (const fault of await faultsOf(page)) faults.push(`${view}: ${path}, unfolded: ${fault}`);
    }
    await context.close();
  }
  return faults;
}

t.test('nothing of a package with very many, long, foreign names is cut off or too wide', needsBrowser, async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const name = `n${'a'.repeat(39)}`;
  const { id } = (await ada.post('/v1/snap', { name })).body as { id: string };
  const title = `${'مدوجزر '.repeat(3)}🌊🌊`;
  t.match(await ada.patch(`/v1/snap/${name}`, { title, summary: '‮מים🌊'.repeat(15).slice(0, 120) }), { status: 200 });
  const architectures = ['amd64', 'arm64', 'armhf', 'i386', 'ppc64el', 'riscv64', 's390x'];
  await (await store.as('root')).post(`/internal/v1/packages/snap/${name}/guardrails`, { pattern: '[0-9a-z.-]+' });
  const tracks = Array.from({ length: 9 }, (_, at) => `${String(at)}-${'t'.repeat(26)}`);
  await ada.post(
    `/v1/snap/${name}/tracks`,
    tracks.map((track) => ({ name: track })),
  );
  for (const [at, architecture] of architectures.entries())
    await addRevision(store, id, at + 1, {
      version: `${'v'.repeat(31)}${String(at)}`,
      details: { architectures: [architecture] },
    });
  for (const track of ['latest', ...tracks])
    for (const risk of ['stable', 'candidate', 'beta', 'edge'])
      await ada.post(
        `/v1/snap/${name}/releases`,
        architectures.map((_, at) => ({ channel: `${track}/${risk}`, revision: at + 1 })),
      );
  const branch = `edge/${'b'.repeat(120)}`;
  await ada.post(`/v1/snap/${name}/releases`, [
    { channel: 'stable', revision: 1, progressive: { percentage: 12.5, paused: true } },
    { channel: branch, revision: 1 },
  ]);
  const packagePath = `/console/packages/snap/${name}`;
  const paths = [
    ...['', '/history', '/revisions', '/resources', '/vulnerabilities', '/usage', '/collaborators'],
    ...['/release', `/release?revision=1&channels=${branch}`, '/release?revision=1&percentage=12.5&channels=stable'],
    `?track=${tracks[8] ?? ''}`,
  ].map((below) => packagePath + below);
  t.strictSame(await faultsIn(t, await store.visit('root'), { url: store.url, paths }), []);
});

t.test('a transfer, its receipt and the first steps are readable', needsBrowser, async (t) => {
  const { store, bring } = await receiving(t);
  const ids = [await bring(12, ['hello-on', 'taken-on']), await bring(13)];
  const root = await store.visit('root');
  const [waiting = '', accepted = ''] = ids.map((id) => `/console/carry/transfers/${id}`);
  await root.send(await root.open(accepted), `${accepted}/accept`);
  const paths = [waiting, `${waiting}?without=snap/taken-on`, accepted, `${accepted}/receipt`, '/console/set-up'];
  t.strictSame(await faultsIn(t, root, { url: store.url, paths }), []);
  t.strictSame(await faultsIn(t, await store.visit('ada'), { url: store.url, paths: ['/console'] }), []);
});
