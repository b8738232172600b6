// larder package list
import { timestamp } from '#domain/clock.ts';
import { isNamespace, namespaces } from '#domain/packages/namespace.ts';
import { presentStorePackage } from '#operations/store/present.ts';
import type { InventoryPackage, PackagePlace, InventoryFilter } from '#records/packages/inventory.ts';
import type { StoreRecords } from '#records/index.ts';
import { command, UsageError } from '../frame/command.ts';
import { parseTimeOption } from '../frame/time-option.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { parseChannelArgument } from '../releases/channel-arguments.ts';
import { formatBytes } from '#domain/byte-size.ts';

/** Rows per query. */
const batch = 500;

export const packageList = command({
  name: 'package list',
  summary: 'List the packages of the store with their publisher, their last release and their size on disk.',
  options: {
    namespace: {
      type: 'string',
      value: 'NAMESPACE',
      summary: 'List only packages of this namespace.',
      choices: namespaces,
    },
    publisher: { type: 'string', value: 'NAME', summary: 'List only packages of this account, by user name or id.' },
    channel: { type: 'string', value: 'CHANNEL', summary: 'List only packages with a release in this channel.' },
    'at-least': {
      type: 'integer',
      value: 'BYTES',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      summary: 'List only packages that use at least this much disk space.',
    },
    'registered-before': {
      type: 'string',
      value: 'DATE',
      summary: 'List only packages registered before this date, such as 2026-01-31.',
    },
    'quiet-since': { type: 'string', value: 'DATE', summary: 'List only packages without a release since this date.' },
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 100_000,
      summary: 'The number of packages. Default: 1000.',
    },
  },
  examples: ['larder package list', 'larder package list --publisher ada --quiet-since 2026-01-01'],

  run({ options, data, world }) {
    const { limit = 1000, namespace } = options;
    const channel = options.channel === undefined ? null : parseChannelArgument(options.channel).name;
    const moment = (option: 'registered-before' | 'quiet-since'): string | null => {
      const text = options[option];
      return text === undefined ? null : timestamp(parseTimeOption(option, text));
    };
    const filter = {
      namespace: namespace !== undefined && isNamespace(namespace) ? namespace : null,
      channel,
      atLeast: options['at-least'] ?? null,
      registeredBefore: moment('registered-before'),
      quietSince: moment('quiet-since'),
    };
    return withStore({ data, world }, async ({ records }) => {
      const publisher = options.publisher === undefined ? null : await accountId(records, options.publisher);
      const packages = await packagesIn(records, { ...filter, publisher }, limit);
      const rows = packages.map((entry) => [
        `${entry.namespace}/${entry.name}`,
        entry.username,
        String(entry.revisions),
        formatBytes(entry.bytes),
        entry.releasedAt?.slice(0, 10) ?? 'never',
        entry.private === 1 ? 'private' : '',
      ]);
      return {
        text: rows.length === 0 ? 'There is none.' : table(headings, rows),
        json: { packages: packages.map(presentStorePackage) },
      };
    });
  },
});

const headings = ['PACKAGE', 'PUBLISHER', 'REVISIONS', 'DISK', 'RELEASED', ''];

async function packagesIn(
  { inventory }: Pick<StoreRecords, 'inventory'>,
  filter: InventoryFilter,
  limit: number,
): Promise<InventoryPackage[]> {
  const collected: InventoryPackage[] = [];
  let after: PackagePlace | undefined = { namespace: '', name: '' };
  while (after !== undefined && collected.length < limit) {
    const { packages, next } = await inventory.packages(filter, after, Math.min(batch, limit - collected.length));
    collected.push(...packages);
    after = next;
  }
  return collected;
}

async function accountId({ accounts }: Pick<StoreRecords, 'accounts'>, nameOrId: string): Promise<string> {
  const account = await accounts.findByName(nameOrId);
  if (account !== undefined) return account.id;
  throw new UsageError(`there is no account '${nameOrId}'; 'larder account list' lists them`);
}
