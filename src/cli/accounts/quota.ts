// larder account quota
import { setQuota } from '#acts/accounts/quotas.ts';
import type { AccountQuota, Limit } from '#contract/wire.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { noun } from '#domain/quantities.ts';
import { limitExamples, readLimit } from '#operations/accounts/quota-limits.ts';
import { toStoredLimit, presentQuota } from '#operations/accounts/present-quota.ts';
import { command, UsageError } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { formatBytes } from '#domain/byte-size.ts';

export const accountQuota = command({
  name: 'account quota',
  summary: 'Show how many bytes and packages a publisher has and may have, or set these limits.',
  description:
    'An upload or a registration above the limit is refused with the figures. Existing content stays. Content ' +
    'that several packages of one publisher share counts once. Accounts without limits of their own have the ' +
    'limits of [quotas] in larder.toml.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    bytes: { type: 'string', value: 'SIZE', summary: 'Such as 20G or 500M; none for no limit, default for [quotas].' },
    packages: { type: 'string', value: 'COUNT', summary: 'How many; none for no limit, default for [quotas].' },
  },
  examples: [
    'larder account quota xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account quota xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --bytes 20G --packages 50',
  ],

  run({ positionals: { id }, options, data, world }) {
    const quota = {
      ...(options.bytes !== undefined && { bytes: parseLimitOption('bytes', options.bytes) }),
      ...(options.packages !== undefined && { packages: parseLimitOption('packages', options.packages) }),
    };
    return withStore({ data, world }, async ({ records, acts, person, config }) => {
      const account = await findAccount(records, id);
      if (Object.keys(quota).length > 0) await acts.do(setQuota, person, { id, quota });
      const quotaUse = await presentQuota(records, account, readDefaultQuota(config.quotas));
      return { text: `The account ${id} (${account.username}) has ${describeQuota(quotaUse)}.`, json: quotaUse };
    });
  },
});

/** The use of a quota: `1.2 GiB of 20.0 GiB, and 3 packages`. */
export const describeQuota = (quota: AccountQuota): string => {
  const of = ({ limit, own }: Limit, show: (count: number) => string): string =>
    limit === null ? '' : ` of ${show(limit)}${own ? '' : ' (default)'}`;
  return (
    `${formatBytes(quota.bytes.used)}${of(quota.bytes, formatBytes)}, and ` +
    `${String(quota.packages.used)}${of(quota.packages, String)} ${noun(quota.packages.limit ?? quota.packages.used, 'package')}`
  );
};

function parseLimitOption(option: 'bytes' | 'packages', text: string): number | null {
  const limit = readLimit(option, text);
  if (limit !== undefined) return toStoredLimit(limit);
  throw new UsageError(`--${option} is ${limitExamples[option]}, none or default, not '${text}'`);
}
