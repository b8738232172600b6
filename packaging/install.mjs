// Installs the packages of package-lock.json if they are missing, so that `npm start` and `npm test` work at once in a
// fresh checkout. It runs before any install, on the Node of the system (18 or later), hence plain JavaScript. The
// later steps run on node_modules/.bin/node, the same runtime that the executable contains.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const node = join(root, 'node_modules/.bin/node');

if (!installed()) {
  console.error('larder: installing the dependencies (npm ci) …');
  npmCi();
}
if (!existsSync(node)) {
  stop('node_modules has no Node runtime. Larder is built on Linux, x64 or arm64, with the optional dependencies.');
}

/**
 * npm records the packages that it installed. A locked package that is missing from the record is for other systems.
 */
function installed() {
  const wanted = locked('package-lock.json');
  const present = locked('node_modules/.package-lock.json');
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    return found ? found.version === entry.version && found.integrity === entry.integrity : entry.optional === true;
  });
}

function locked(file) {
  const path = join(root, file);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined;
}

function npmCi() {
  // The npm that started us, on the Node it runs on: not one inside node_modules, which `npm ci` takes away first.
  const { npm_execpath: npm, npm_node_execpath: runtime = process.execPath } = process.env;
  const arguments_ = ['ci', '--no-fund', '--no-audit', '--loglevel=error'];
  const run = { cwd: root, stdio: ['ignore', 2, 2] };
  const { status, error } = npm ? spawnSync(runtime, [npm, ...arguments_], run) : spawnSync('npm', arguments_, run);
  if (error) stop(`npm cannot be started: ${error.message}`);
  if (status !== 0) stop('the dependencies could not be installed; what npm says above tells why.');
}

function stop(sentence) {
  console.error(`larder: ${sentence}`);
  process.exit(1);
}
