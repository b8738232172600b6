// The certificate of the running server: creates it, renews it, and replaces it at a reload.
import type { Logger } from 'pino';

import { itself } from '#acts/act.ts';
import { renewCertificate } from '#acts/store/appliance.ts';
import type { KeyManager } from '#assertions/keys/key-manager.ts';
import { toTlsKeeperOptions, type StoreHandle } from '#data/store.ts';
import { prepareTls, type AuthorityDevice } from '#tls/keeper.ts';
import type { ServerTls } from '#tls/settings.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import type { Current } from './settings.ts';

export interface Certificate {
  /** The current certificate; undefined without TLS. */
  current(): ServerTls | undefined;
  /** Renews the certificate if it expires soon, or reads a replaced one; returns whether it has changed. */
  renew(): Promise<boolean>;
  /** Why the device of the authority has not signed a new certificate; undefined if none is missing. */
  unsigned(): string | undefined;
  /** Resolves when a running renewal has ended that asks no device. */
  settled(): Promise<void>;
  /** Called with each certificate that replaces another. */
  onRenewal(listener: (tls: ServerTls) => void): void;
}

/**
 * Whether the store uses TLS is decided once, at the start. `renews` is true if this process renews and reports
 * certificates, false if another process of the store does.
 */
export async function keepCertificate(
  store: StoreHandle,
  current: Current,
  { log, renews, manager }: { log: Logger; renews: boolean; manager: KeyManager },
): Promise<Certificate> {
  const keeping = toTlsKeeperOptions(store.directory, store.siteKey, store.now);
  const device: AuthorityDevice = {
    publicKey: (name) => manager.publicKey(name, 'certificate'),
    sign: (key, bytes) => manager.signBytes(key, bytes, 'certificate'),
  };
  const read = () => prepareTls(tlsSettings(current().config), { ...keeping, renews, device });
  const listeners: ((tls: ServerTls) => void)[] = [];
  /** Records in the log and in the audit log that the server has a new certificate. */
  const tell = async ({ hosts, ends, fingerprint }: ServerTls): Promise<void> => {
    log.info({ hosts, ends }, 'the server has a new certificate');
    if (!renews) return;
    await store.acts.do(renewCertificate, itself, { hosts, ends, fingerprint });
  };
  const first = speaksTls(current().config) ? await read() : undefined;
  if (first?.renewed === true) await tell(first);
  let tls = first;
  let renewing: Promise<unknown> = Promise.resolve();
  async function renewNow(): Promise<boolean> {
    if (tls === undefined) return false;
    const before = tls.certificate;
    tls = await read();
    if (tls.certificate === before) return false;
    for (const listener of listeners) listener(tls);
    await tell(tls);
    return true;
  }
  return {
    current: () => tls,
    unsigned: () => tls?.unsigned,
    onRenewal: (listener) => void listeners.push(listener),
    renew() {
      // One after the other: a device takes its time, and two authorities must not be made at once.
      const renewal = renewing.then(renewNow);
      renewing = renewal.catch(() => undefined);
      return renewal;
    },
    settled: async () => {
      // A device can take its time.
      if (current().config.tls.authority_key === undefined) await renewing;
    },
  };
}
