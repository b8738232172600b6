// larder token issue
import { readChannelPattern } from '#domain/releases/channel.ts';
import { namespaces, packageTypes, type PackageType } from '#domain/packages/namespace.ts';
import { nameProblem } from '#domain/packages/package-name.ts';
import { isPermission, permissions, type Permission } from '#domain/tokens/permission.ts';
import type { PackageSelector } from '#domain/tokens/package-selector.ts';
import { maxTokenLifetimeMs, ttlProblem } from '#macaroons/authority.ts';
import { createTimeKeeper } from '#jobs/store/remember-time.ts';
import { environmentOf, isTool, linesFor, tools } from '#operations/tokens/tool-environment.ts';
import { nearest } from '#domain/nearest.ts';
import type { Config } from '#configuration/config.ts';
import { readCertificates } from '#tls/keeper.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { describeFault, textOf } from '#platform/faults.ts';
import { command, UsageError } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';

export const tokenIssue = command({
  name: 'token issue',
  summary: 'Issue a token of an account.',
  description:
    'The token is the only text on standard output, ready for the header Authorization: Macaroon TOKEN. With ' +
    '--for, the output is lines that a publisher pastes into a shell, so that the tool uses this store and the ' +
    "token. snapcraft's whoami, upload, release, status and close, and all of charmcraft's commands but login, " +
    'then work without a login. For images, the lines write the login to a file and point snap download, snap ' +
    'prepare-image and ubuntu-image here. The token has all permissions of the account, unless permissions, channels ' +
    'or packages restrict it; a token for images has package-view-revisions only, unless --permission adds others.',
  options: {
    account: { type: 'string', value: 'ID', summary: 'The account of the token.', required: true },
    for: {
      type: 'string',
      value: 'TOOL',
      summary: 'Print the environment variables for this tool.',
      choices: tools,
    },
    permission: {
      type: 'string',
      value: 'P',
      summary: 'A permission of the token.',
      repeated: true,
      choices: permissions,
    },
    channel: {
      type: 'string',
      value: 'C',
      summary: 'A channel that the token may release to, such as latest/edge or */edge.',
      repeated: true,
    },
    package: {
      type: 'string',
      value: 'TYPE:NAME',
      summary: 'A package that the token is valid for, such as snap:hello.',
      repeated: true,
    },
    ttl: {
      type: 'integer',
      value: 'SECONDS',
      summary: 'The lifetime. Default and maximum: identity.longest_token_days of the configuration.',
      minimum: 10,
      maximum: maxTokenLifetimeMs / 1000,
    },
    description: { type: 'string', value: 'TEXT', summary: 'The purpose, as shown in lists of tokens.' },
  },
  examples: [
    'larder token issue --account xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --for snapcraft --package snap:hello --ttl 86400',
    'larder token issue --account acme --for images --ttl 86400',
    'larder token issue --account xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --json',
    "larder token issue --account ci --permission package-manage-revisions --package snap:hello --ttl 3600 --description 'nightly builds'",
  ],

  run({ options, data, json, world }) {
    const { account, ttl, description } = options;
    if ((description?.length ?? 0) > 1024) throw new UsageError('--description has at most 1024 characters');
    const request = {
      accountId: account,
      provenBy: 'host' as const,
      permissions: unlessEmpty(options.permission.filter(isPermission)) ?? (options.for === 'images' ? fetching : null),
      channels: unlessEmpty(options.channel.map(channel)),
      packages: unlessEmpty(options.package.map(selector)),
      description,
      ttl,
    };
    return withStore({ data, world }, async ({ records, acts, authority, config, latestTime, now, person }) => {
      const problem = ttlProblem(ttl, authority.longestLife());
      if (problem !== undefined) throw new UsageError(`--ttl: ${problem}`);
      const { username } = await findAccount(records, account);
      // Start at the latest time that the store has seen; before it, the store would not accept the token yet.
      const clock = await createTimeKeeper(records, acts, latestTime, now);
      const { token, sessionId, validUntil } = await authority.issue(request, person);
      const about = `A token of ${account} (${username}), valid until ${validUntil}; its session is ${sessionId}.`;
      const doubt = clock.doubt();
      const warning = doubt && textOf(describeFault('clock', doubt));
      if (!json) world.stderr.write([about, warning, ''].filter((line) => line !== undefined).join('\n'));
      const tool = isTool(options.for) ? options.for : undefined;
      const environment = tool && environmentOf(tool, token, { config });
      return {
        text: tool === undefined ? token : linesFor(tool, token, { config, authority: authorityIn(data, config) }),
        json: { macaroon: token, 'session-id': sessionId, 'valid-until': validUntil, ...(tool && { environment }) },
      };
    });
  },
});

/** The default permission of a token for image tools: they download packages and change nothing in the store. */
const fetching: Permission[] = ['package-view-revisions'];

/** The certificate of the store's own authority, if it has one. */
const authorityIn = (data: string, config: Config): string | undefined =>
  speaksTls(config) ? readCertificates(data, tlsSettings(config))?.authority : undefined;

/** Converts an empty list to null: null means no restriction, but an empty list would allow nothing. */
const unlessEmpty = <Item>(list: Item[]): Item[] | null => (list.length === 0 ? null : list);

function channel(text: string): string {
  if (readChannelPattern(text) !== undefined) return text;
  throw new UsageError(`--channel is a channel such as latest/edge, or a pattern such as */edge, not '${text}'`);
}

function selector(text: string): PackageSelector {
  const types: readonly PackageType[] = namespaces.flatMap(packageTypes);
  const [kind = '', name = ''] = text.split(/:(.*)/s);
  const type = types.find((candidate) => candidate === kind);
  if (type === undefined) {
    const meant = nearest(kind, types);
    const hint = meant === undefined ? `; the types are ${types.join(', ')}` : `; did you mean '${meant}:${name}'?`;
    throw new UsageError(`--package is TYPE:NAME, such as snap:hello, not '${text}'${hint}`);
  }
  const problem = nameProblem(name);
  if (problem !== undefined) throw new UsageError(`--package ${text}: ${problem}`);
  return { type, name };
}
