// Reloads the configuration while the store serves: all of it is accepted, or the old one stays.
import { join } from 'node:path';

import type { KeyManager } from '#assertions/keys/key-manager.ts';
import type { ApprovalPolicyKeeper } from '#jobs/approvals/keep-approval-policy.ts';
import { ConfigError, readConfig, type Config } from '#configuration/config.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { readCertificates } from '#tls/keeper.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import type { Certificate } from './certificate.ts';
import type { ApplianceOptions } from './options.ts';
import { settingsOf, type ApplianceSettings } from './settings.ts';
import type { Storage } from './storage.ts';

/** Reads the settings of a data directory again; if they cannot be used, throws an error with a message for people. */
export function rereadSettings({ directory, credentials }: ApplianceOptions): ApplianceSettings {
  const fresh = readConfig(join(directory, 'larder.toml'));
  const settings = settingsOf(fresh, directory, credentials);
  if (speaksTls(fresh)) readCertificates(directory, tlsSettings(fresh));
  return settings;
}

/** Like `rereadSettings`, and while the store serves, a refused configuration is a fault until one is accepted. */
export function readOrRefuse(options: ApplianceOptions, { health }: Pick<Storage, 'health'>): ApplianceSettings {
  try {
    const settings = rereadSettings(options);
    health.report('configuration-refused', undefined);
    return settings;
  } catch (error) {
    health.report('configuration-refused', { because: describeConfigurationError(error, options) });
    throw error;
  }
}

/** Why a configuration was refused, as a message for people. */
export const describeConfigurationError = (
  error: unknown,
  { directory }: Pick<ApplianceOptions, 'directory'>,
): string => (error instanceof ConfigError ? error.message : inOneSentence(error, { data: directory }));

/** Puts a configuration into use, and logs which changes need a restart. */
export function applyConfiguration(
  config: Config,
  { startedWith, listensElsewhere }: { startedWith: Config; listensElsewhere: boolean },
  { store, log }: Storage,
  {
    certificate,
    policy,
    keyManager,
  }: {
    certificate: Certificate;
    policy: Pick<ApprovalPolicyKeeper, 'takeUp'>;
    keyManager: Pick<KeyManager, 'retry'>;
  },
): void {
  store.config = config;
  store.records.forgetRemembered();
  log.level = config.log.level;
  keyManager.retry();
  certificate.renew().catch((error: unknown) => {
    log.error({ err: error }, 'cannot take the new certificate; the old one stays');
  });
  policy.takeUp().catch((error: unknown) => {
    log.error({ err: error }, 'cannot take the approval policy into force; the old one stays');
  });
  log.info('configuration reloaded');
  const waiting = needsRestart(startedWith, config).filter((key) => key !== 'http.listen' || !listensElsewhere);
  if (waiting.length > 0) log.warn({ keys: waiting }, 'changed, but only a restart makes it count');
}

/** The changed keys that are read only at the start. */
export function needsRestart(before: Config, now: Config): string[] {
  return [
    ...(before.http.listen === now.http.listen ? [] : ['http.listen']),
    ...(before.http.workers === now.http.workers ? [] : ['http.workers']),
    ...(before.identity.certificates.listen === now.identity.certificates.listen
      ? []
      : ['identity.certificates.listen']),
    ...(speaksTls(before) === speaksTls(now) ? [] : ['http.base_url']),
    ...(before.records.postgres === now.records.postgres ? [] : ['records.postgres']),
    ...(before.records.password_file === now.records.password_file ? [] : ['records.password_file']),
    ...(['s3', 'region', 'credentials_file', 'authority_file'] as const)
      .filter((key) => before.blobs[key] !== now.blobs[key])
      .map((key) => `blobs.${key}`),
    ...(before.uploads.reserve === now.uploads.reserve ? [] : ['uploads.reserve']),
  ];
}
