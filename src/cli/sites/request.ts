// larder transfer request
import { createDigest } from '#domain/cryptography.ts';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

import { makeRequest } from '#acts/sites/requests.ts';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { withBlobs } from '#data/blobs.ts';
import { syncFolder, createDurableFile } from '#files/durable-streams.ts';
import { buildRequestContent, describeRequest, type SiteRequestContent } from '#transfers/request/request-content.ts';
import { writeRequest, type WrittenRequest } from '#transfers/request/request-file.ts';
import { figuresOf, toRequestReport } from '#transfers/request/request-report.ts';
import { fetchScript, scriptDigest, buildFetchTable } from '#transfers/request/fetch-table.ts';
import { fingerprintOf, ownSite, type Site, shortId } from '#transfers/site.ts';
import { command, type CommandResult, type CommandCall } from '../frame/command.ts';
import { withWriteErrors } from '../frame/outside-files.ts';
import { canAsk, requireConfirmation, needsYes } from '../frame/questions.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { custodyOf, siteKeysOf } from '../keys/find-keys.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { fileAt } from '../transfers/make/writing-options.ts';
import { renderReportPage, renderReportText } from '../transfers/report.ts';

const options = {
  inventory: {
    type: 'string',
    value: 'WHAT',
    choices: ['none', 'imported', 'all'],
    summary: 'The stored contents that the request lists, so that they are not sent again. Default: imported contents.',
  },
  'include-own': { type: 'boolean', summary: "Include also the site's own packages, models and accounts." },
  'dry-run': { type: 'boolean', summary: 'Show the complete request, and write nothing.' },
  yes: { type: 'boolean', summary: 'Do not ask for confirmation.' },
} as const;

type RequestCall = CommandCall<typeof options, readonly [{ readonly name: 'file'; readonly summary: string }]>;

const name = 'transfer request';

export const transferRequest = command({
  name,
  summary:
    'Write a request of this site to one file for transport: its subscriptions, missing packages and stored ' +
    'contents.',
  description:
    'The command shows the complete request before it writes the file. The file holds the signed statement, a ' +
    'page for people, and a script that fetches the requested packages with the tools of the online stores, or ' +
    'from a running store (STORE=URL CHARMHUB=URL sh fetch.sh FOLDER). Except for snaps with a declaration that ' +
    "must be changed, the request says nothing about the site's own packages unless you ask for that.",
  positionals: [
    {
      name: 'file',
      summary: 'The new file to write. In a folder, the file is named by its number.',
    },
  ],
  options,
  examples: [
    'larder transfer request /media/stick --yes',
    'larder transfer request ./out.tar --inventory none --dry-run',
  ],

  run: (call) => withStore(call, (store) => makeSiteRequest(store, call), { writesOutside: true }),
});

async function makeSiteRequest(store: OpenStore, call: RequestCall): Promise<CommandResult> {
  const { records, now, config } = store;
  const { inventory = 'imported', 'include-own': includeOwn, 'dry-run': isDry } = call.options;
  const site = await ownSite(records, siteKeysOf(store, call.world));
  const settled = await records.transfers.lastSettled();
  const statement = await withBlobs(store, ({ blobs }) =>
    buildRequestContent(
      { inventory: inventory as 'none' | 'imported' | 'all', includeOwn },
      { records, blobs, site, label: config.site.label, now, keyRequest: keyRequestOf(store, call) },
    ),
  );
  const { text: table, withheld } = buildFetchTable(statement);
  statement.withheld.push(...withheld);
  const report = toRequestReport(statement, scriptDigest());
  const shown = renderReportText(report);
  if (isDry) return { text: shown, json: { 'dry-run': true, request: statement, table } };
  await askFirst(shown, call);
  const file = fileAt(resolve(call.positionals.file), `${site.name}-request-${String(statement.number)}.tar`);
  const files = {
    'request.html': Buffer.from(renderReportPage(report)),
    'fetch.sh': fetchScript(),
    'wishes.tsv': Buffer.from(table),
  };
  const written = await writeRequest(statement, files, site.key);
  await withWriteErrors(file, () => placeRequest(store, { file, statement, settled, written }));
  return answerOf(shown, { file, statement, site, written });
}

const keyRequestOf = (store: OpenStore, { world }: RequestCall) => {
  const signer = custodyOf(store, world);
  return (key: { brandAccountId: string; sha3_384: string; name: string }, since: Date): Promise<string> =>
    accountKeyRequest({
      signer,
      keyId: key.sha3_384,
      accountId: key.brandAccountId,
      name: key.name,
      since,
      signedAt: since,
    });
};

/** Shows the full request and asks for confirmation; without a terminal, `--yes` is required. */
async function askFirst(shown: string, { options: { yes }, world }: RequestCall): Promise<void> {
  if (yes) return;
  if (!canAsk(world)) throw needsYes(name, 'The complete request leaves this site; --dry-run shows it.');
  world.stderr.write(`${shown}\n`);
  await requireConfirmation(world, 'All of the above leaves this site.');
}

interface WrittenSiteRequest {
  file: string;
  statement: SiteRequestContent;
  written: WrittenRequest;
}

/** Writes the request under a temporary name, records the export, then renames the file. */
async function placeRequest(
  { acts, person, asCaller }: OpenStore,
  { file, statement, settled, written }: WrittenSiteRequest & { settled: string | null },
): Promise<void> {
  const partial = join(dirname(file), `.${basename(file)}.partial`);
  await asCaller(async () => {
    await rm(partial, { force: true });
    await createDurableFile(partial, piecesOf(written.bytes), 0o644);
  });
  try {
    const { id, bytes: content } = written;
    const sha256 = createDigest('statement').update(content).digest('hex');
    const made = {
      number: statement.number,
      settled,
      id,
      bytes: content.length,
      sha256,
      label: statement.label ?? null,
      contents: describeRequest(statement),
    };
    await acts.do(makeRequest, person, made);
  } catch (error) {
    await asCaller(() => rm(partial, { force: true }));
    throw error;
  }
  await asCaller(async () => {
    await rename(partial, file);
    await syncFolder(dirname(file));
  });
}

async function* piecesOf(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

function answerOf(
  shown: string,
  { file, statement, site, written }: WrittenSiteRequest & { site: Site },
): CommandResult {
  const fingerprint = fingerprintOf([site.key.publicKey]).join();
  return {
    text:
      `${shown}\nRequest ${String(statement.number)} (${shortId(written.id)}) is in ${visible(file)}: ${formatBytes(written.bytes.length)}. ` +
      `It is signed with the key with the fingerprint ${fingerprint}.`,
    json: {
      id: written.id,
      number: statement.number,
      file,
      bytes: written.bytes.length,
      fingerprint,
      ...figuresOf(statement),
      'not-told': statement.withheld,
      script: scriptDigest(),
    },
  };
}
