// Rules about the sections of logins: keys that need each other.
import type { CertificatesConfig } from '#contract/wire.ts';
import { valuesIn } from './keys.ts';

interface BrokenRule {
  path: readonly string[];
  message: string;
}

/** Sections with a problem that has been reported already are skipped. */
export function* brokenIdentity(
  values: unknown,
  alreadyWrong: readonly (readonly (string | number)[])[],
): Generator<BrokenRule> {
  const isWrong = (section: string): boolean => alreadyWrong.some(([, inner]) => inner === section);
  if (!isWrong('oidc')) yield* brokenOidc(valuesIn(values, 'identity.oidc'));
  if (!isWrong('certificates')) yield* brokenCertificates(valuesIn(values, 'identity.certificates'));
}

/** The keys without which no login with the OpenID provider works. */
function* brokenOidc(section: object): Generator<BrokenRule> {
  const path = ['identity', 'oidc'];
  const isSet = (key: string): boolean => Object.hasOwn(section, key);
  if (!['issuer', 'client_id', 'client_secret_file', 'authority_file'].some(isSet)) return;
  for (const key of ['issuer', 'client_id', 'client_secret_file'].filter((each) => !isSet(each))) {
    yield { path, message: `identity.oidc.${key} is missing: [identity.oidc] needs it for logins` };
  }
}

/** The keys without which no login with a certificate works. A role that requires one would lock its accounts out. */
function* brokenCertificates(section: CertificatesConfig): Generator<BrokenRule> {
  const path = ['identity', 'certificates'];
  const { listen, authority_file: authority, require_certificate: roles = [], upn_domains: domains = [] } = section;
  if ((listen === undefined) !== (authority === undefined)) {
    const missing = listen === undefined ? 'listen' : 'authority_file';
    yield { path, message: `identity.certificates.${missing} is missing: [identity.certificates] needs it for logins` };
  } else if (listen === undefined && roles.length > 0) {
    const key = 'identity.certificates.require_certificate';
    const message = `${key} needs identity.certificates.listen: without it these roles cannot log in`;
    yield { path: [...path, 'require_certificate'], message };
  }
  if (section.account_name === 'upn' && domains.length === 0)
    yield { path, message: 'identity.certificates.upn_domains is missing: account_name = "upn" needs the domains' };
}
