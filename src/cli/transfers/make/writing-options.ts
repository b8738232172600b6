// Shared code of the commands that write transfers: options, target file and report.
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { checkShape } from '#contract/schema.ts';
import { figuresOf, type TransferIntent, type WrittenTransfer } from '#transfers/make/compose.ts';
import type { TransferRequestReference } from '#transfers/make/collector.ts';
import { fingerprintOf, shortId } from '#transfers/site.ts';
import { Failure, UsageError, type CommandResult, type CommandCall } from '../../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { visible } from '../../frame/terminal.ts';
import { formatBytes } from '#domain/byte-size.ts';

export const writingOptions = {
  for: { type: 'string', value: 'SITE', summary: 'The receiving site. Default: any site.', repeated: true },
  'since-sent': { type: 'boolean', summary: 'Leave out contents that were already sent to each of the named sites.' },
  'part-size': {
    type: 'integer',
    value: 'MIB',
    minimum: 2,
    maximum: 10_000_000,
    summary: 'The largest size of a part in MiB, such as 4400 for a DVD. Default on a stick with FAT: 4095.',
  },
  expires: {
    type: 'integer',
    value: 'DAYS',
    minimum: 1,
    maximum: 3650,
    summary: 'How long the transfer is valid. Default: 180 days.',
  },
  reason: { type: 'string', value: 'TEXT', summary: 'The purpose, for the administrator who accepts the transfer.' },
} as const;

export type WritingOptions = CommandCall<typeof writingOptions>['options'];

interface TransferReceiverOptions extends Pick<WritingOptions, 'for' | 'since-sent'> {
  request: string | undefined;
}

export function refuseUnclearWriting({ for: sites, 'since-sent': since, request }: TransferReceiverOptions): void {
  if (request !== undefined && (since || sites.length > 0))
    throw new UsageError('--request names the site and its stored contents; leave out --for and --since-sent');
  if (since && sites.length !== 1) throw new UsageError('--since-sent needs one site, by --for');
  for (const site of sites) checkShape('SiteName', site);
}

interface TransferIntentInput {
  /** Selects the contents that were already sent to the site. */
  sentTo: (site: string, contents: readonly string[]) => Promise<ReadonlySet<string>>;
  /** The request that the transfer meets. */
  siteRequest: TransferRequestReference | undefined;
  /** The file to write. */
  file: string;
}

/** Converts the options of the command line to the input of the code that makes transfers. */
export function toIntent(
  callOptions: WritingOptions,
  { sentTo, siteRequest, file }: TransferIntentInput,
): TransferIntent {
  const more = {
    expiresDays: callOptions.expires ?? 180,
    partSize: partSizeFor(file, callOptions['part-size']),
    reason: callOptions.reason,
  };
  if (siteRequest !== undefined) {
    const { id, statement: request } = siteRequest;
    const existing = new Set(request.inventory.contents);
    return {
      sites: [request.site],
      ...more,
      base: { kind: 'inventory', request: id, site: request.site },
      findPresent: async (contents) => new Set(contents.filter((content) => existing.has(content))),
    };
  }
  const [site = ''] = callOptions.for;
  const since = callOptions['since-sent'];
  return {
    sites: callOptions.for,
    ...more,
    base: since ? { kind: 'sent', site } : { kind: 'none' },
    findPresent: (contents) => (since ? sentTo(site, contents) : Promise.resolve(new Set<string>())),
  };
}

/** The type that `statfs` gives for FAT, where a file is smaller than 4 GiB. */
const fat = 0x4d44;
const largestOnFat = 4095;

/** The maximum size of a part in bytes; undefined if there is no limit. */
export function partSizeFor(
  file: string,
  requestedMebibytes: number | undefined,
  typeOf = (folder: string) => statfsSync(folder).type,
): number | undefined {
  if (requestedMebibytes !== undefined && requestedMebibytes <= largestOnFat) return requestedMebibytes * 1024 * 1024;
  const isFat = typeOf(dirname(file)) === fat;
  if (isFat && requestedMebibytes !== undefined) {
    throw new UsageError(`${dirname(file)} has FAT; the largest part there is ${String(largestOnFat)} MiB`);
  }
  const maxMebibytes = requestedMebibytes ?? (isFat ? largestOnFat : undefined);
  return maxMebibytes === undefined ? undefined : maxMebibytes * 1024 * 1024;
}

/** The file to write: the named file, or `name` in the named folder. */
export function fileAt(path: string, name: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return newFileAt(isFolder ? join(path, name) : path);
}

/** Returns the file to write; refuses an existing file. */
export function newFileAt(file: string): string {
  if (existsSync(file)) throw new Failure(`${file} is there already; a transfer overwrites nothing`);
  return file;
}

export function formatMade({ id, statement, files, bytes: size }: WrittenTransfer, publicKey: string): CommandResult {
  const figures = figuresOf(statement);
  const [fingerprint = ''] = fingerprintOf([publicKey]);
  const left = figures.contents - figures.carried;
  const releases = (statement['larder-releases'] ?? []).map(({ version }) => version);
  return {
    text: [
      `Transfer number ${String(statement.sequence)} (${shortId(id)}) is in ${files.map(visible).join(', ')}: ${formatBytes(size)}.`,
      `It holds ${formatCount(figures.packages, 'package')} with ${formatCount(figures.revisions, 'revision')}, valid until ${statement.expires}` +
        `${left > 0 ? `; ${formatCount(left, 'content is', 'contents are')} left out, because the site has ${left === 1 ? 'it' : 'them'}` : ''}.`,
      ...releases.map((version) => `It holds release ${version} of larder.`),
      `It is signed with the key with the fingerprint ${fingerprint}.`,
    ].join('\n'),
    json: {
      id,
      sequence: statement.sequence,
      files,
      expires: statement.expires,
      fingerprint,
      ...figures,
      ...(releases.length > 0 && { 'larder-releases': releases }),
      bytes: size,
    },
  };
}
