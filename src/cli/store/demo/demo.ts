// larder demo
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { shellWord } from '#domain/shell-word.ts';
import { readArguments } from '../../frame/arguments.ts';
import { command, Failure, type Command, type World } from '../../frame/command.ts';
import { withWriteErrors } from '../../frame/outside-files.ts';
import { accountCreate } from '../../accounts/create.ts';
import { accountInvite } from '../../accounts/invite.ts';
import { packagePush } from '../../uploads/push.ts';
import { packageRegister } from '../../packages/register.ts';
import { init } from '../init.ts';
import { demoSnaps } from './snaps.ts';

/** Ports to try if --port is not given. */
const ports = { first: 8080, last: 8099 } as const;

export const demo = command({
  name: 'demo',
  summary: 'Make a small store to try larder with, in a folder of its own.',
  description:
    'The store has an account and two small snaps, which are released. No other store is touched: --data and ' +
    'LARDER_DATA have no effect. To remove it, stop its server and delete the folder.',
  positionals: [{ name: 'folder', summary: 'The new folder. Default: ./larder-demo.', optional: true }],
  options: {
    port: {
      type: 'integer',
      value: 'PORT',
      minimum: 1,
      maximum: 65_535,
      summary: 'The port of 127.0.0.1 to serve it on. Default: the first free port from 8080.',
    },
  },
  examples: ['larder demo ./larder-demo', 'larder demo ./try --port 9090'],

  async run({ positionals, options, world }) {
    const folder = resolve(positionals.folder ?? 'larder-demo');
    const isNew = makeFolder(folder);
    const url = `http://127.0.0.1:${String(options.port ?? (await freePort()))}`;
    try {
      return await filled(folder, url, world);
    } catch (error) {
      if (isNew) rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  },
});

/** Creates the folder, or uses an empty one; returns whether it was created. */
function makeFolder(folder: string): boolean {
  const exists = existsSync(folder);
  if (exists && readdirSync(folder).length > 0) {
    throw new Failure(`${folder} is not empty; name a new folder: 'larder demo FOLDER'`, {
      code: 'directory-not-empty',
    });
  }
  if (!exists) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return !exists;
}

async function filled(folder: string, url: string, world: World) {
  const data = join(folder, 'store');
  const quiet: World = { ...world, stderr: { write: () => true } };
  const perform = async (command: Command, ...args: string[]): Promise<unknown> => {
    const call = readArguments(command, [...args, '--data', data, '--json', '--quiet'], quiet);
    return (await command.run(call)).json;
  };
  await perform(init, '--base-url', url, '--listen', new URL(url).host);
  await perform(
    accountCreate,
    '--id',
    'demo',
    '--email',
    'demo@larder.invalid',
    '--username',
    'demo',
    '--display-name',
    'Demo',
  );
  for (const { name, file, channel, base64 } of demoSnaps) {
    const path = join(folder, file);
    await withWriteErrors(path, () => {
      writeFileSync(path, Buffer.from(base64, 'base64'), { mode: 0o644 });
    });
    await perform(packageRegister, `snap/${name}`, '--account', 'demo');
    await perform(packagePush, path, '--release', channel, '--yes');
  }
  const { link } = (await perform(accountInvite, 'demo')) as { link: string };
  return {
    text: textOf({ folder, data, url, link }),
    json: {
      folder,
      data,
      url,
      account: 'demo',
      link,
      packages: demoSnaps.map(({ name, channel }) => ({ name: `snap/${name}`, channel })),
    },
  };
}

function textOf({ folder, data, url, link }: Record<'folder' | 'data' | 'url' | 'link', string>): string {
  const store = shellWord(data);
  return [
    `The demo store is in ${folder}: the account demo and two snaps.`,
    ...demoSnaps.map(({ name, file, channel }) => `  ${name} is released to ${channel}; its file is ${file}`),
    '',
    '1. Serve it, in a terminal of its own; Ctrl-C stops it:',
    `     larder serve --data ${store}`,
    '2. Open this link in a browser and choose a password for the account demo. It is valid for 72 hours:',
    `     ${link}`,
    `   Then log in at ${url}/console as demo. The documents are at ${url}/docs/.`,
    '3. Look around, release and push:',
    `     larder package list --data ${store}`,
    `     larder release snap/demo-notes 1 stable --data ${store}`,
    `     larder token issue --data ${store} --account demo --for curl`,
    '',
    `To remove it, stop the server and delete ${folder}.`,
  ].join('\n');
}

async function freePort(): Promise<number> {
  for (let port: number = ports.first; port <= ports.last; port++) if (await isFree(port)) return port;
  throw new Failure(
    `the ports ${String(ports.first)} to ${String(ports.last)} of 127.0.0.1 are in use; name another with --port PORT`,
  );
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((done) => {
    probe.once('error', () => {
      done(false);
    });
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () =>
      probe.close(() => {
        done(true);
      }),
    );
  });
}
