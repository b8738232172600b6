// larder transfer fetch
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { scratchOf } from '#transfers/make/collector.ts';
import type { ParsedRequest } from '#transfers/request/request-file.ts';
import { fetchScript, buildFetchTable } from '#transfers/request/fetch-table.ts';
import { command, extendAnswer, Failure, UsageError, type CommandCall } from '../../frame/command.ts';
import { interruptible } from '../../frame/interruption.ts';
import { requireCollector } from '../../sites/collector.ts';
import { newTransferFile, writeGatheredTransfer } from './collector-transfer.ts';
import { formatGathered, gatherFolder } from './gather.ts';
import { readRequestFile } from '../../sites/incoming-request.ts';
import { media } from '../parts.ts';
import { writingOptions } from './writing-options.ts';

const { 'part-size': partSize, expires, reason } = writingOptions;

const options = {
  store: {
    type: 'string',
    value: 'URL',
    summary: 'Fetch snaps from the running store at this address. Default: the online store, with snap.',
  },
  charmhub: {
    type: 'string',
    value: 'URL',
    summary: 'Fetch charms from the running store at this address. Default: Charmhub.',
  },
  folder: {
    type: 'string',
    value: 'DIR',
    summary: 'The folder for the fetched files. Default: in the folder of the collector, one folder for each request.',
  },
  release: {
    type: 'string',
    value: 'CHANNEL',
    summary: 'The channel for snaps if no answer of a store names one. Separate several with commas.',
    repeated: true,
  },
  'even-so': { type: 'boolean', summary: 'Make the transfer even if something could not be fetched.' },
  'part-size': partSize,
  expires,
  reason,
  media,
} as const;

const positionals = [
  { name: 'request', summary: 'The request of the site.' },
  { name: 'file', value: 'OUT', summary: 'The new file of the transfer to write, or a folder for it.' },
] as const;

type FetchCall = CommandCall<typeof options, typeof positionals>;

export const transferFetch = command({
  name: 'transfer fetch',
  summary: 'Fetch what a request of a site asks for, gather it, and make the transfer: at a collector that is online.',
  description:
    "Combines the script of the request, 'transfer gather' and 'transfer make'. The script is the one of this " +
    'larder, with a table from the signed request; the command executes nothing from the request. It needs curl, ' +
    'jq and openssl, snap for snaps of the online store, and skopeo for images. If it is interrupted or ' +
    'something cannot be fetched, run it again: fetched files are kept.',
  positionals,
  options,
  examples: [
    'larder transfer fetch /media/stick/site-a-request-3.tar /media/stick',
    'larder transfer fetch ./site-a-request-3.tar ./in.tar --release stable --part-size 4400',
    'larder transfer fetch ./site-a-request-3.tar ./in.tar --store https://old.example --charmhub https://old.example',
  ],

  async run(call) {
    const { positionals: typed, options: callOptions } = call;
    const collector = requireCollector(call);
    const siteRequest = await readRequestFile(typed.request);
    const { site, number } = siteRequest.statement;
    // Check the target before anything is fetched.
    const file = newTransferFile(collector, typed.file);
    const folder = resolve(callOptions.folder ?? join(collector.folder, 'fetched', `${site}-${String(number)}`));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const isComplete = await fetchRequested(siteRequest, folder, call);
    const folderContent = await gatherFolder(
      folder,
      { scratch: scratchOf(collector), release: callOptions.release, siteRequest },
      call,
    );
    const writing = { ...call, options: { ...callOptions, for: [], 'since-sent': false } };
    const made = await writeGatheredTransfer(collector, folderContent, { file, siteRequest }, writing);
    const failed = isComplete ? [] : ['Something could not be fetched, as told above, and is not in it.'];
    const keepNote = `The fetched files are in ${folder}; remove them when the transfer has arrived.`;
    const answer = extendAnswer(formatGathered(folderContent), made.text, made.json);
    return {
      ...extendAnswer(answer, [...failed, keepNote].join('\n'), { folder, complete: isComplete }),
      exitCode: isComplete ? 0 : 1,
    };
  },
});

/** Runs the script; returns whether everything was fetched. */
async function fetchRequested({ statement }: ParsedRequest, folder: string, call: FetchCall): Promise<boolean> {
  const { options: callOptions, world } = call;
  const work = mkdtempSync(join(tmpdir(), 'larder-fetch-'));
  try {
    writeFileSync(join(work, 'fetch.sh'), fetchScript(), { mode: 0o700 });
    writeFileSync(join(work, 'wishes.tsv'), buildFetchTable(statement).text);
    const env = {
      ...process.env,
      ...world.env,
      EVERYTHING: 'no',
      ...(callOptions.store !== undefined && { STORE: address(callOptions.store) }),
      ...(callOptions.charmhub !== undefined && { CHARMHUB: address(callOptions.charmhub) }),
    };
    const { code, last } = await interruptible((signal) => runScript({ work, folder, env, signal }, call));
    if (code === 0) return true;
    if (code === 1 && callOptions['even-so']) return false;
    throw new Failure(
      code === 1
        ? `not everything could be fetched: ${last}. Run the command again to resume, or add --even-so to make the transfer from the fetched files`
        : `nothing was fetched: ${last}`,
      { code: 'not-fetched' },
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function address(text: string): string {
  if (/^https?:\/\/[^\s]+$/.test(text)) return text;
  throw new UsageError(`'${text}' is not the address of a store; write it as https://store.example`);
}

interface FetchScriptRun {
  work: string;
  folder: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** Shows the script's messages while it runs; returns its exit code and its last message. */
function runScript(
  { work, folder, env, signal }: FetchScriptRun,
  { quiet, json, world }: Pick<CommandCall, 'quiet' | 'json' | 'world'>,
): Promise<{ code: number; last: string }> {
  return new Promise((resolve, reject) => {
    const script = spawn('sh', [join(work, 'fetch.sh'), folder], { env, signal, stdio: ['ignore', 'ignore', 'pipe'] });
    let last = '';
    script.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (!quiet && !json) world.stderr.write(text);
      last = text.trim().split('\n').at(-1) ?? last;
    });
    script.on('error', (error) => {
      reject(signal.aborted ? (signal.reason as Error) : error);
    });
    script.on('close', (code) => {
      resolve({ code: code ?? 2, last });
    });
  });
}
