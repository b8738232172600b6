// What `npm start` runs: makes a store in ./data on first use, serves it, and says how to publish to it.
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { run } from '#cli/frame/run.ts';
import { groups } from '#cli/index.ts';
import { readConfig } from '#configuration/config.ts';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: join(import.meta.dirname, '../data') },
    listen: { type: 'string', default: '127.0.0.1:8080' },
  },
});
const { env, stdin, stdout, stderr } = process;
const world = { env, stdin, stdout, stderr };

process.umask(0o077);
const code = await start(options.data, options.listen);
// Requests in progress end with the server.
stdout.write('', () => stderr.write('', () => process.exit(code)));

async function start(data: string, listen: string): Promise<number> {
  const configuration = join(data, 'larder.toml');
  if (!existsSync(configuration)) {
    const made = await run(
      ['init', '--data', data, '--listen', listen, '--base-url', `http://${listen}`],
      {
        ...world,
        stdout: { write: () => true },
      },
      groups,
    );
    if (made !== 0) return made;
  }
  const { http } = readConfig(configuration);
  if (await taken(http.listen)) {
    stderr.write(
      `larder: ${http.listen} is in use. Is this store running already? Otherwise stop the program that ` +
        `listens there, or choose another address with http.listen in ${relative('', configuration)}.\n`,
    );
    return 1;
  }
  const served = new AbortController();
  const code = run(['serve', '--data', data], world, groups).finally(() => served.abort());
  if (await ready(`http://${http.listen}/readyz`, served.signal)) stdout.write(howTo(http.base_url, data));
  return code;
}

function howTo(baseUrl: string, data: string): string {
  return `
larder is ready at ${baseUrl}
Its documents, for people: ${baseUrl}/docs/

In another terminal, this makes the command larder, for this store:
  export PATH="${join(import.meta.dirname, '../bin')}:$PATH" LARDER_DATA=${quoted(data)}

Then:
  larder account password larder-admin
      sets a password, to log in as admin at ${baseUrl}/console
  larder token issue --account larder-admin --for snapcraft
      prints lines to paste into a shell, to publish with snapcraft (or charmcraft, or curl) as the administrator
  larder account create --email bob@example.com --username bob --display-name Bob
      makes an account for another publisher, who gets their own lines
The store administrator's credential is in ${join(data, 'admin.macaroon')}

Ctrl-C stops it.
`;
}

/** A path as a shell reads it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Whether something listens there already. */
function taken(listen: string): Promise<boolean> {
  const [, host = '', port] = /^(.*):(.*)$/.exec(listen) ?? [];
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(true) : reject(error),
    );
    probe.listen({ host: host.replace(/^\[|\]$/g, ''), port: Number(port), exclusive: true }, () =>
      probe.close(() => resolve(false)),
    );
  });
}

/** Waits until the store answers that it is ready; false when it stops before. */
async function ready(url: string, stopped: AbortSignal): Promise<boolean> {
  while (!stopped.aborted) {
    const status = await fetch(url, { signal: stopped }).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return true;
    await sleep(100);
  }
  return false;
}
