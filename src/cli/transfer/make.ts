// larder transfer make
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { check } from '#api/schema.ts';
import { isPackageGlob } from '#domain/package-glob.ts';
import { withBlobs } from '#data/blobs.ts';
import { figuresOf, type Made } from '#transfers/composing.ts';
import { make, makeAgain, type Making } from '#transfers/make.ts';
import type { ReadRequest } from '#transfers/request/form.ts';
import { fingerprintOf, ownSite } from '#transfers/site.ts';
import { command, Failure, UsageError, type Answer, type Call } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { writing } from '../frame/outside.ts';
import { progressOf } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { bytes } from '../store/status.ts';
import { askedIn, withRequest } from './met.ts';
import { shortId } from './parts.ts';

const options = {
  packages: {
    type: 'string',
    value: 'GLOB',
    summary: "What to carry, such as 'snap/*', charm/postgresql-k8s or assertion/model; otherwise everything.",
    repeated: true,
  },
  for: { type: 'string', value: 'SITE', summary: 'A site that it is for; otherwise any.', repeated: true },
  request: {
    type: 'string',
    value: 'FILE',
    summary: 'Carry what this request of a site wishes for, and nothing that it says is there.',
  },
  'since-sent': { type: 'boolean', summary: 'Leave out what was sent before to each of the sites that are named.' },
  'part-size': {
    type: 'integer',
    value: 'MIB',
    minimum: 2,
    maximum: 10_000_000,
    summary: 'Cut it into parts of at most so many MiB: 4400 for a DVD, 4095 for a stick with FAT.',
  },
  expires: {
    type: 'integer',
    value: 'DAYS',
    minimum: 1,
    maximum: 3650,
    summary: 'How long it is good; otherwise 180 days.',
  },
  reason: { type: 'string', value: 'TEXT', summary: 'Why it is made, for whoever lets it in.' },
  again: {
    type: 'integer',
    value: 'N',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    summary: 'Make a part of transfer number N again, the same bytes.',
  },
  part: { type: 'integer', value: 'K', minimum: 1, maximum: 100_000, summary: 'With --again: which part.' },
} as const;

type MakeCall = Call<typeof options, readonly [{ readonly name: 'file'; readonly summary: string }]>;

export const transferMake = command({
  name: 'transfer make',
  summary: 'Make a transfer of what this store holds, to be carried to other sites.',
  description:
    'What the channels of the packages hold goes in, with its resources, images and assertions, under one statement that the key of ' +
    'this site signs. Nothing that is there already need be carried twice: --request goes by what the site says is there, and ' +
    'carries what it wishes for with what that stands on; --since-sent leaves out what was sent before.',
  positionals: [
    {
      name: 'file',
      summary: 'The file to write, which must not be there yet; or a folder, and its number is its name.',
    },
  ],
  options,
  examples: [
    'larder transfer make /media/stick',
    'larder transfer make ./in.tar --request /media/stick/site-a-request-3.tar',
    "larder transfer make ./in.tar --packages 'snap/*' --for site-a --since-sent",
    'larder transfer make /media/disc --part-size 4400',
    'larder transfer make ./in.2of3.tar --again 7 --part 2',
  ],

  run: (call) => withStore(call, (store) => made(store, call), { writesOutside: true }),
});

async function made(store: OpenStore, call: MakeCall): Promise<Answer> {
  const { options: given } = call;
  refuseUnclear(given);
  const { records, acts, person: by, siteKey, now, asCaller } = store;
  const site = await ownSite(records, siteKey);
  const sequence = given.again ?? (await records.transfers.newestMade()) + 1;
  const file = fileAt(resolve(call.positionals.file), `${site.name}-${String(sequence)}.tar`);
  const progress = progressOf(call);
  try {
    return await interruptible(() =>
      withBlobs(store, async ({ blobs }) => {
        const making: Making = { records, acts, by, blobs, site, now, asCaller, progress: progress.at };
        if (given.again !== undefined) {
          const again = { sequence, part: given.part ?? 1, file };
          return answerOf(await writing(file, () => makeAgain(again, making)), site.seed.publicKey);
        }
        const asked = given.request === undefined ? undefined : await askedIn(given.request, store);
        const found = await writing(file, () => make(wishOf(given, { file, asked: asked?.request }, store), making));
        return withRequest(answerOf(found, site.seed.publicKey), asked);
      }),
    );
  } finally {
    progress.end();
  }
}

function refuseUnclear(given: MakeCall['options']): void {
  const { again, part, packages, for: sites, request, 'since-sent': since } = given;
  if (part !== undefined && again === undefined) throw new UsageError('--part is of use only with --again');
  if (again !== undefined && (packages.length > 0 || sites.length > 0 || since || request !== undefined))
    throw new UsageError('--again makes what was made before; it takes --part alone');
  if (request !== undefined && (since || sites.length > 0))
    throw new UsageError(
      '--request says for which site it is and what is there; it takes neither --for nor --since-sent',
    );
  if (since && sites.length !== 1) throw new UsageError('--since-sent needs one site, by --for');
  const wrong = packages.find((glob) => !isPackageGlob(glob));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is no glob of packages; write such as 'snap/*'`);
  for (const site of sites) check('SiteName', site);
}

/** The file that is meant: a new one of this name where a folder was named. */
export function fileAt(path: string, name: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return newFileAt(isFolder ? join(path, name) : path);
}

/** A file that is to be written; refused where there is one. */
export function newFileAt(file: string): string {
  if (existsSync(file)) throw new Failure(`${file} is there already; a transfer overwrites nothing`);
  return file;
}

interface Whom {
  file: string;
  /** The request that is met. */
  asked: ReadRequest | undefined;
}

function wishOf(given: MakeCall['options'], { file, asked }: Whom, { records }: OpenStore): Parameters<typeof make>[0] {
  const more = {
    expiresDays: given.expires ?? 180,
    partSize: given['part-size'] === undefined ? undefined : given['part-size'] * 1024 * 1024,
    reason: given.reason,
    file,
  };
  if (asked !== undefined) {
    const { id, statement: request } = asked;
    const there = new Set(request.inventory.contents);
    return {
      ...{ packages: given.packages, request, sites: [request.site], ...more },
      base: { kind: 'inventory', request: id, site: request.site },
      known: async (contents) => new Set(contents.filter((content) => there.has(content))),
    };
  }
  const [site = ''] = given.for;
  const since = given['since-sent'];
  return {
    packages: given.packages.length === 0 ? ['*/*'] : given.packages,
    sites: given.for,
    base: since ? { kind: 'sent', site } : { kind: 'none' },
    known: (contents) => (since ? records.transfers.sentTo(site, contents) : Promise.resolve(new Set<string>())),
    ...more,
  };
}

function answerOf({ id, statement, files, bytes: size }: Made, publicKey: string): Answer {
  const figures = figuresOf(statement);
  const [fingerprint = ''] = fingerprintOf([publicKey]);
  const left = figures.contents - figures.carried;
  return {
    text: [
      `Transfer number ${String(statement.sequence)} (${shortId(id)}) is in ${files.map(visible).join(', ')}: ${bytes(size)}.`,
      `It holds ${String(figures.packages)} packages with ${String(figures.revisions)} revisions, good until ${statement.expires}` +
        `${left > 0 ? `; ${String(left)} contents are left out, because they are there` : ''}.`,
      `It is signed with the key whose fingerprint is ${fingerprint}.`,
    ].join('\n'),
    json: { id, sequence: statement.sequence, files, expires: statement.expires, fingerprint, ...figures, bytes: size },
  };
}
