// Selects the settings for a support bundle: values that cannot contain a name, and for other settings only that they are set.
import type { ConfigurationKey } from '#configuration/config.ts';
import { ConfigError } from '#configuration/config-error.ts';
import type { ConfigValue } from '#configuration/edit.ts';
import { findKey } from '#configuration/keys.ts';
import { readSettings } from '../config/values.ts';

/** Settings with a visible value: switches, numbers, sizes and words of a closed list. */
export const shownSettings: readonly string[] = [
  'store.offline_mode',
  'identity.root_key_days',
  'identity.longest_token_days',
  'identity.require_totp',
  'identity.oidc.accounts',
  'identity.certificates.expired_crl',
  'identity.certificates.account_name',
  'sessions.idle_minutes',
  'sessions.max_hours',
  'sessions.max_per_account',
  'sessions.acknowledge_banner',
  'sessions.show_last_login',
  'sessions.reauthenticate_minutes',
  'http.metrics',
  'http.console',
  'http.documents',
  'http.drain_minutes',
  'http.workers',
  'internal.package_permissions',
  'internal.build_records',
  'blobs.redirect_downloads',
  'uploads.max_size',
  'uploads.reserve',
  'uploads.unclaimed_per_address',
  'uploads.unclaimed_hours',
  'quotas.bytes',
  'quotas.packages',
  'revisions.keep',
  'revisions.older_than_days',
  'registry.notifications',
  'integrity.scrub_rate',
  'collaborators.invite_days',
  'log.level',
  'log.format',
  'keys.timeout_seconds',
  'keys.concurrent',
  'devices.snap',
  'devices.charm',
  'devices.remember',
  'devices.max_downloads',
  'devices.max_download_rate',
  'devices.deltas',
  'devices.max_deltas_size',
  'approvals.days',
  'transfers.expected_days',
  'vulnerabilities.feed_days',
  'backup.drill_days',
];

/** Settings shown only as `(set)`, because they hold addresses, names or paths. Every other setting is left out. */
export const namedSettings: readonly string[] = [
  'store.id',
  'auth.store_admin_id',
  'identity.redirect_urls',
  'identity.certificates.listen',
  'identity.certificates.authority_file',
  'identity.certificates.crl_files',
  'identity.certificates.upn_domains',
  'identity.certificates.require_certificate',
  'identity.oidc.issuer',
  'identity.oidc.client_id',
  'identity.oidc.authority_file',
  'identity.oidc.hosts',
  'identity.oidc.name',
  'identity.oidc.scopes',
  'identity.oidc.username_claim',
  'identity.oidc.groups_claim',
  'sessions.banner',
  'sessions.reauthenticate',
  'http.base_url',
  'http.listen',
  'http.trusted_proxies',
  'http.nginx_location',
  'http.monitors',
  'http.security_contacts',
  'tls.names',
  'tls.certificate_file',
  'tls.authority_file',
  'tls.authority_key',
  'blobs.region',
  'registry.external',
  'names.reserved',
  'keys.manager',
  'keys.environment',
  'assertions.trusted',
  'limits.known_networks',
  'approvals.transfers',
  'approvals.unsigned_folders',
  'approvals.requests',
  'approvals.releases',
  'approvals.vulnerabilities',
  'approvals.delete_keys',
  'approvals.import_keys',
  'approvals.sources',
  'approvals.policy',
  'approvals.feeds',
  'site.label',
  'site.levels',
  'transfers.watch',
  'backup.folder',
  'backup.bucket',
  'backup.every',
];

const set = '(set)';

/** The settings in larder.toml; settings at their default are not listed. */
export function settingsForBundle(data: string): unknown {
  let values: ReadonlyMap<string, ConfigValue>;
  try {
    values = readSettings(data);
  } catch (error) {
    // The parser's message may quote the line, so only its number is shown.
    const problems = error instanceof ConfigError ? error.problems : [];
    return { readable: false, lines: problems.flatMap(({ line }) => line ?? []) };
  }
  const shown = shownSettings.flatMap((name) => {
    const value = values.get(name);
    return value === undefined ? [] : [[name, typedValue(findKey(name), value)] as const];
  });
  const redacted = namedSettings.flatMap((name) => (values.has(name) ? [[name, set] as const] : []));
  return {
    readable: true,
    settings: Object.fromEntries([...shown, ...redacted].sort(([first], [other]) => (first < other ? -1 : 1))),
  };
}

/** A value of the setting's type; any other value may be a mistake, and is not shown. */
function typedValue(key: ConfigurationKey | undefined, value: ConfigValue): string | number | boolean {
  if (key === undefined || key.secret) return set;
  if (typeof value === 'boolean' && key.types.includes('boolean')) return value;
  if (typeof value === 'number' && (key.size || key.types.includes('integer'))) return value;
  if (typeof value !== 'string') return set;
  if (key.words.includes(value)) return value;
  return key.size && /^[0-9]{1,6} ?[KMGT]iB$/.test(value) ? value : set;
}
