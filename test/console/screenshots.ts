// Takes a picture of every page of the console at each width and in each colour scheme: of full size into a folder, for a review, or small
// into test/console/pictures/kept, to be compared with.
//   npm run screenshots -- FOLDER
//   npm run screenshots -- --keep
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { chromium } from 'playwright-core';
import { browserOptions } from '#test/fixtures/clients/browser.ts';
import { drawerOf, forgetPicture, keepDrawer, keepPicture, keptNames, pictureName } from './pictures/kept-pictures.ts';
import { openStillConsole, takePictures } from './pictures/still-console.ts';

const [target] = process.argv.slice(2);
if (target === undefined)
  throw new Error(
    'The folder of the pictures is missing. Run: npm run screenshots -- FOLDER, or npm run screenshots -- --keep',
  );

const cleanups: (() => unknown)[] = [];
const still = await openStillConsole({ teardown: (work: () => unknown) => cleanups.push(work) });
const browser = await chromium.launch(browserOptions);

if (target === '--keep') {
  const taken = new Set<string>();
  await takePictures(browser, still, (page, view, file) => {
    const name = pictureName(page, view);
    taken.add(name);
    if (keepPicture(file, name)) console.log(`kept ${name}`);
  });
  for (const name of keptNames().filter((name) => !taken.has(name))) forgetPicture(name);
  keepDrawer(await drawerOf(browser));
} else {
  mkdirSync(target, { recursive: true });
  const save = (...[page, view, file]: Parameters<Parameters<typeof takePictures>[2]>): void =>
    writeFileSync(join(target, pictureName(page, view)), file);
  await takePictures(browser, still, save, 1);
}
await browser.close();
for (const clean of cleanups.reverse()) await clean();
