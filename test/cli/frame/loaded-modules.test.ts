// An everyday command loads only the modules that it needs. Each megabyte of program takes time and memory in every call
// (`npm run bench -- memory`).
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder, newStore } from '../process.ts';

const root = join(import.meta.dirname, '../../..');
/** The parser of the configuration, and the two packages for the database and for macaroons. */
const packages = ['better-sqlite3', 'bindings', 'smol-toml', 'tweetnacl'];
const unneeded = /^node:https?$|\/src\/(?:console|appliance|documents|workers|contract\/schema\.ts)/;

t.test('an everyday command loads neither the server nor a package that only the server needs', async (t) => {
  const store = await newStore(t);
  const list = join(folder(t), 'modules');
  const hooks = join(folder(t), 'hooks.mjs');
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs';
     import { registerHooks } from 'node:module';
     registerHooks({
       load(url, context, nextLoad) {
         appendFileSync(${JSON.stringify(list)}, url + '\\n');
         return nextLoad(url, context);
       },
     });`,
  );
  for (const [line, maxModules] of [
    ['status', 400],
    ['account list', 320],
    ['doctor', 420],
    ['verify', 350],
    ['config get http.listen', 80],
  ] as const) {
    writeFileSync(list, '');
    const words = [...line.split(' '), '--data', store.data];
    execFileSync(process.execPath, ['--import', hooks, join(root, 'src/main.ts'), ...words], { stdio: 'ignore' });
    const loaded = readFileSync(list, 'utf8').trimEnd().split('\n');
    const ofPackages = loaded.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
    t.same(new Set(ofPackages.filter((name) => !packages.includes(name))), new Set(), `${line}: no other package`);
    t.same(
      loaded.filter((url) => unneeded.test(url)),
      [],
      `${line}: no module of the server, and not the schemas`,
    );
    t.ok(loaded.length <= maxModules, `${line}: ${String(loaded.length)} modules, at most ${String(maxModules)}`);
  }
});
