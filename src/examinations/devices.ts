// Examines the needs of devices and controllers apart from their requests: dependencies of packages, the store assertion, TLS trust.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { addressIn, leadsTo } from '#assertions/store-assertion.ts';
import type { Config } from '#configuration/config.ts';
import type { StoreHandle } from '#data/store.ts';
import { missingHere } from '#transfers/dependencies.ts';
import { readCertificates } from '#tls/keeper.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { trustAt } from '#tls/trust.ts';
import {
  ExaminationUnavailableError,
  notice,
  well,
  wrong,
  type Examination,
  type ExaminationFinding,
} from './examination.ts';

export const closure: Examination = {
  subject: 'Closure',
  isCostly: true,
  async look(patient) {
    const { snap: snaps, charm: charms } = patient.config().devices;
    if (!snaps && !charms) return well('this store serves neither snapd nor juju');
    const missing = await missingHere((await patient.store()).records, { snaps, charms });
    const [first] = missing;
    if (first === undefined) return well('everything that releases need is here');
    const { kind, name, neededBy } = first;
    const others =
      missing.length === 1 ? '' : `; ${missing.length - 1} more ${missing.length === 2 ? 'is' : 'are'} missing`;
    return notice(
      `the ${kind} ${name} is not here, and ${neededBy[0]!} needs it${neededBy.length > 1 ? ', as do others' : ''}${others}`,
      "'larder closure' lists all missing packages. Import or release them.",
    );
  },
};

export const storeAssertion: Examination = {
  subject: 'Store assertion',
  async look(patient) {
    const config = patient.config();
    if (!config.devices.snap) return well('this store does not serve devices');
    return compared(config, await patient.store());
  },
};

/** Whether the authority that 'larder device snippet' prints trusts the server at the address of the store. */
export const deviceTrust: Examination = {
  subject: 'Device trust',
  onHostAlone: true,
  async look(patient) {
    const config = patient.config();
    const { base_url: url } = config.http;
    if (!config.devices.snap && !config.devices.charm) return well('this store does not serve devices');
    if (!speaksTls(config)) return well(`${url} is plain http, which has no certificate to check`);
    const authority = readCertificates(patient.data, tlsSettings(config))?.authority;
    const trust = await trustAt(url, authority);
    if ('unreachable' in trust) throw new ExaminationUnavailableError(trust.unreachable);
    const authorities =
      authority === undefined ? 'the authorities of this system' : "the authority that 'larder device snippet' prints";
    if (trust.trusted) return well(`the certificate at ${url} is trusted by ${authorities}`);
    return wrong(
      `the certificate at ${url} is not trusted by ${authorities}: ${trust.because}; devices do not connect`,
      authority === undefined
        ? 'Name the authority of the certificate in tls.authority_file, and give devices the new snippet.'
        : 'Serve the chain of this authority there, or name the authority of the certificate in tls.authority_file and give devices the new snippet.',
    );
  },
};

/** Compares the address in the store assertion with the address of the store. */
async function compared({ store: { id }, http }: Config, { records }: StoreHandle): Promise<ExaminationFinding> {
  const stored = await records.assertions.find(`store/${id}`);
  if (stored === undefined) {
    return notice(
      `the store assertion of '${id}' is missing, so devices cannot use this store with proxy.store`,
      "Have the online store sign one for this store's id and address, and import it with 'larder assertion import'; 'larder device snippet --without-assertion' needs none.",
    );
  }
  const assertion = parseAssertion(stored.text);
  const own = new URL(http.base_url);
  if (leadsTo(assertion, own.href)) return well(`it names ${own.origin}, where the store is`);
  return notice(
    `the store assertion of '${id}' names ${addressIn(assertion)?.href ?? 'no address'}, and the store is at ${own.href}: devices do not find this store`,
    'Have the online store sign an assertion with this address, or set http.base_url to the address in the assertion.',
  );
}
