// Importing and matching feeds needs no network: the commands open no connection to another host.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder, newStore } from '#test/cli/process.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { kevCatalog, osvZip, vexDocument } from '#test/fixtures/vulnerabilities/feeds.ts';

t.setTimeout(300_000);

const main = join(import.meta.dirname, '../../../src/main.ts');

t.test('feeds are imported and matched without a connection', { skip: withoutPrograms('strace') }, async (t) => {
  const store = await newStore(t);
  const files = folder(t);
  const trace = join(files, 'trace');
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(files, name), content);
    return join(files, name);
  };
  const statement = { vulnerability: 'CVE-2026-1', products: [], status: 'fixed' };
  for (const args of [
    ['import', file('osv.zip', osvZip([{ id: 'USN-1-1', fixes: { 'Ubuntu:22.04:LTS openssl': '3' } }]))],
    ['import', file('kev.json', kevCatalog(['CVE-2026-1001']))],
    ['import', file('vex.json', vexDocument([statement]))],
    ['match'],
  ]) {
    const { status, stderr } = spawnSync(
      'strace',
      ['-f', '-e', 'trace=%network', '-o', trace, process.execPath, main, 'feed', ...args, '--data', store.data],
      { encoding: 'utf8' },
    );
    t.equal(status, 0, stderr);
    const calls = readFileSync(trace, 'utf8').split('\n');
    t.same(
      calls.filter((call) => /AF_INET/.test(call)),
      [],
      args.join(' '),
    );
    t.ok(
      calls.some((call) => / exited with 0 /.test(call)),
      'strace has seen all of it',
    );
  }
});
