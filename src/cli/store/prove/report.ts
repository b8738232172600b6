// Writes the report of a proof: a JSON document, the same as a signed envelope, and a page for people.
import { existsSync, readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { randomBytes } from '#domain/cryptography.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { StoreHandle } from '#data/store.ts';
import { commit, version } from '#platform/version.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { findEnvelopeSigners, openEnvelope, signEnvelope } from '#transfers/statement/envelopes.ts';
import { SigningSeed, type SiteSigner } from '#transfers/statement/site-keys.ts';
import { fingerprintOf, siteOf } from '#transfers/site.ts';
import { row, reportPage, table } from '../../audit/report-page.ts';
import { Failure, type CommandCall, type CommandResult } from '../../frame/command.ts';
import { toReadFailure, writeNew } from '../../frame/outside-files.ts';
import { suspendRoot, type AsCaller } from '../../frame/owner.ts';
import { openUpgraded } from '../../frame/store.ts';
import { siteKeysOf } from '../../keys/find-keys.ts';
import { isProven, trialTitles, type Tallies, type TrialTally, type TrialName } from './tally.ts';
import type { ProofFigures } from './trial-store.ts';

const payloadType = 'application/vnd.larder.proof.v1+json';

export interface ProofResult {
  tallies: Tallies;
  figures: ProofFigures;
  rounds: number;
  seed: number;
  folder: string;
  /** RFC 3339. */
  began: string;
  ended: string;
}

interface ProofSigner {
  /** The name of the site; null if the key was made for the run. */
  site: string | null;
  key: SiteSigner;
  /** Why the key is not that of the site. */
  note: string | null;
}

/**
 * Finds the key of the site of a data directory, or makes one for this run. Root becomes the owner of the directory, so call it
 * after the trials.
 */
async function withSigner<Result>(
  { data, world }: ReportPlace,
  work: (signer: ProofSigner, asCaller: AsCaller) => Promise<Result>,
): Promise<Result> {
  let asCaller: AsCaller = async (write) => write();
  const own = (note: string) => work({ site: null, key: new SigningSeed(randomBytes(32)), note }, asCaller);
  if (!existsSync(join(data, 'larder.toml'))) return own(`there is no store in ${data}`);
  let store: StoreHandle;
  try {
    asCaller = suspendRoot(data);
    store = await openUpgraded(data, world);
  } catch (error) {
    return own(`the store in ${data} cannot be opened: ${inOneSentence(error)}`);
  }
  try {
    const site = await siteOf(store.records, siteKeysOf(store, world));
    if (site === undefined) return await own(`the store in ${data} has no site name`);
    return await work({ site: site.name, key: site.key, note: null }, asCaller);
  } finally {
    await store.close();
  }
}

/** The data directory of the site that signs. */
export type ReportPlace = Pick<CommandCall, 'data' | 'world'>;

/** Writes the three files; returns the document, the names of the files, and a sentence about the signature. */
export const writeReport = (result: ProofResult, place: ReportPlace): Promise<WrittenReport> =>
  withSigner(place, async ({ site, key, note }, asCaller) => {
    const fingerprint = fingerprintOf([key.publicKey]).join();
    const document = {
      ...toDocument(result),
      'signed-by': { site, 'public-key': key.publicKey, fingerprint, note },
    };
    const contents = {
      'report.html': renderPage(document),
      'report.json': `${toCanonicalText(document)}\n`,
      'signed.json': await signEnvelope(document, payloadType, key),
    };
    for (const [name, content] of Object.entries(contents))
      await writeNew(join(result.folder, name), asCaller, (append) => append(content));
    const signedBy =
      site === null
        ? `signed.json is signed with a key of this run, with the fingerprint ${fingerprint}, because ${note ?? ''}.`
        : `signed.json is signed with the key of the site '${site}', with the fingerprint ${fingerprint}.`;
    return { document, files: Object.keys(contents), signedBy };
  });

type ProofDocument = ReturnType<typeof toDocument> & {
  'signed-by': { site: string | null; 'public-key': string; fingerprint: string; note: string | null };
};

interface WrittenReport {
  document: ProofDocument;
  files: string[];
  signedBy: string;
}

const median = (values: readonly number[]): number | null =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? null;
const max = (values: readonly number[]): number | null => (values.length === 0 ? null : Math.max(...values));

function toDocument({ tallies, figures, folder, seed, rounds, began, ended }: ProofResult) {
  const { acknowledged, loadMs, readyMs, restoreMs } = figures;
  return {
    format: 1,
    good: Object.values(tallies).every(isProven),
    larder: { version, commit: commit ?? null },
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      'memory-bytes': totalmem(),
      kernel: release(),
      architecture: arch(),
      node: process.version,
      'is-root': process.getuid?.() === 0,
    },
    'file-system': fileSystemOf(folder),
    began,
    ended,
    seed,
    rounds,
    trials: Object.entries(tallies).map(([name, tally]) => ({
      name,
      title: trialTitles[name as TrialName],
      good: isProven(tally),
      ...tally,
    })),
    figures: {
      'acknowledged-changes': acknowledged,
      'acknowledged-changes-per-second': loadMs === 0 ? null : Math.round((acknowledged * 1000) / loadMs),
      'ready-after-kill-median-ms': median(readyMs),
      'ready-after-kill-max-ms': max(readyMs),
      'restore-median-ms': median(restoreMs),
      'restore-max-ms': max(restoreMs),
    },
  };
}

/** The file system that a folder is on, with its mount options. Spaces in mountinfo are written as octal numbers (proc(5)). */
function fileSystemOf(folder: string): { type: string; source: string; options: string; 'mount-point': string } {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ');
      const [, , , , place = '/', options = ''] = before.split(' ');
      const [type = '', source = '', superOptions = ''] = after.split(' ');
      const point = place.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));
      return { type, source, options: `${options} ${superOptions}`, 'mount-point': point };
    });
  const above = mounts.filter(({ 'mount-point': point }) => point === '/' || `${folder}/`.startsWith(`${point}/`));
  return above.toSorted((a, b) => b['mount-point'].length - a['mount-point'].length)[0]!;
}

export const describeTally = (name: string, { tried, held, controls, controlsNoticed }: TrialTally): string[] => [
  name,
  ...[tried, held, controls, controlsNoticed].map(String),
];

function renderPage(document: ProofDocument): string {
  const { machine, larder, figures, trials, 'file-system': fileSystem, 'signed-by': signer } = document;
  const facts: readonly (readonly [string, string | number | null])[] = [
    ['larder', `${larder.version}${larder.commit === null ? '' : `, commit ${larder.commit}`}`],
    ['Processor', `${machine.cpu}, ${String(machine.cores)} cores, ${machine.architecture}`],
    ['Memory', formatBytes(machine['memory-bytes'])],
    ['Kernel, Node', `${machine.kernel}, ${machine.node}`],
    ['User', machine['is-root'] ? 'root' : 'not root'],
    ['File system', `${fileSystem.type} on ${fileSystem['mount-point']} (${fileSystem.source}; ${fileSystem.options})`],
    [
      'Time',
      `${document.began} to ${document.ended}, ${String(document.rounds)} rounds, seed ${String(document.seed)}`,
    ],
    [
      'Signed by',
      `${signer.site ?? 'a key of this run'}, fingerprint ${signer.fingerprint}, public key ${signer['public-key']}`,
    ],
  ];
  const body = html`<p><strong>${document.good ? 'Everything held.' : 'Something did not hold.'}</strong></p>
    <p>Check the signature with <code>larder prove --check signed.json</code>.</p>
    <h2>Trials</h2>
    ${table(
      ['Trial', 'Tried', 'Held', 'Controls', 'Noticed', 'Details'],
      trials.map((tally) => row([...describeTally(tally.title, tally), describeDetails(tally.details)])),
    )}
    ${listOf(
      'Problems',
      trials.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`)),
    )}
    ${listOf(
      'Not possible here',
      trials.flatMap(({ name, notPossible }) => notPossible.map((reason) => `${name}: ${reason}`)),
    )}
    <h2>Figures</h2>
    ${table(
      ['Figure', 'Value'],
      Object.entries(figures).map(([name, value]) => row([name.replaceAll('-', ' '), value])),
    )}
    <h2>Machine</h2>
    ${table(
      ['What', 'Value'],
      facts.map((fact) => row(fact)),
    )}`;
  return `${reportPage('Proof of larder', body).toString()}\n`;
}

const describeDetails = (details: Readonly<Record<string, number>>): string =>
  Object.entries(details)
    .map(([detail, count]) => `${detail}: ${String(count)}`)
    .join('; ');

const listOf = (heading: string, items: readonly string[]): Html | string =>
  items.length === 0
    ? ''
    : html`<h2>${heading}</h2>
        <ul>
          ${items.map((item) => html`<li>${item}</li> `)}
        </ul>`;

/** Checks the signature of a report with the key that the report names. */
export function checkReport(file: string): CommandResult {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw toReadFailure(file, error);
  }
  const opened = openEnvelope(text, payloadType);
  const document = opened?.payload as ProofDocument | undefined;
  const key = document?.['signed-by']['public-key'];
  if (
    opened === undefined ||
    document === undefined ||
    key === undefined ||
    findEnvelopeSigners(opened, [key]).length === 0
  )
    throw new Failure(`${file} is not a report with a valid signature; 'larder prove' writes one as signed.json`, {
      code: 'not-signed',
    });
  const { site } = document['signed-by'];
  const fingerprint = fingerprintOf([key]).join();
  return {
    text:
      `The report of ${document.began} is as it was signed: ${document.good ? 'everything held' : 'something did not hold'}.\n` +
      `The key has the fingerprint ${fingerprint}${site === null ? ' and was made for the run' : ` and says that it is of the site '${site}': compare it with 'larder site show' there`}.`,
    json: { ...document, fingerprint },
    exitCode: document.good ? 0 : 1,
  };
}
