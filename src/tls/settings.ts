// What the configuration says of TLS, as the keeper and the server want it.
import type { Config } from '#src/config.ts';
import type { TlsSettings } from './keeper.ts';
import { tlsOptions } from './options.ts';

/** TLS is on exactly when the address that clients use says so. */
export const speaksTls = ({ http }: Config): boolean => http.base_url.startsWith('https:');

/** For which names the server proves itself, and with whose certificate. */
export const tlsSettings = ({ http, tls }: Config): TlsSettings => ({
  hosts: [new URL(http.base_url).hostname.replace(/^\[|\]$/g, ''), ...tls.names],
  certificateFile: tls.certificate_file,
  keyFile: tls.key_file,
  authorityFile: tls.authority_file,
});

/** What the server speaks with; nothing without TLS. */
export const secureContext = (tls: { certificate: string; key: string } | undefined) =>
  tls && { ...tlsOptions, cert: tls.certificate, key: tls.key };
