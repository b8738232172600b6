// Every page of the console looks as its kept picture: at 1280 and 360 px, light and dark. `npm run screenshots -- --keep` renews them.
// Own process: the clock of the whole process stands still.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

import { needsBrowser, openBrowser } from '#test/fixtures/clients/browser.ts';
import { maxDifferentShare } from './comparison.ts';
import { drawerOf, findDifference, incomparable, keptBytes, keptNames, pictureName } from './kept-pictures.ts';
import { openStillConsole, takePictures } from './still-console.ts';

t.setTimeout(900_000);

t.test('every page looks as its kept picture, in every size and mode', needsBrowser, async (t) => {
  const still = await openStillConsole(t);
  const browser = await openBrowser(t);
  const reason = incomparable(await drawerOf(browser));
  const results = mkdtempSync(join(tmpdir(), 'larder-pictures-'));
  const taken = new Set<string>();
  const changed: string[] = [];
  await takePictures(browser, still, (page, view, file) => {
    const name = pictureName(page, view);
    taken.add(name);
    const difference = reason === undefined ? findDifference(file, name, results) : undefined;
    if (difference !== undefined) changed.push(`${page.name} (${page.path}), ${view.name}: ${difference}`);
  });
  t.equal(taken.size, still.pages.length * 4, 'each has a picture');
  if (reason !== undefined) t.pass('the pictures are not compared', { skip: reason });
  else t.strictSame(changed, [], `at most ${maxDifferentShare * 100} % of the pixels differ: see ${results}`);
  t.strictSame(
    keptNames().filter((name) => !taken.has(name)),
    [],
    'and no page is gone that has a kept picture',
  );
  if (changed.length === 0) rmSync(results, { recursive: true });
});

t.test('the kept pictures have at most 5 MB', async (t) => {
  t.ok(keptBytes() <= 5_000_000, `${keptBytes()} bytes`);
});
