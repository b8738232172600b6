// What the configuration says of TLS, as the keeper and the server want it.
import type { Config } from '#src/config.ts';
import { tlsOptions } from './options.ts';

export interface ServerTls {
  /** The certificate with its chain, and the key: PEM. */
  certificate: string;
  key: string;
  /** Whom clients trust: the store's own authority, or the site's where the configuration names it. */
  authority: string | undefined;
  /** Whether it is the store's own, and so renewed by the store. */
  own: boolean;
  /** SHA-256 of what clients check by eye: of the authority, or of the site's certificate. */
  fingerprint: string;
  hosts: string[];
  ends: Date;
}

export interface TlsSettings {
  /** The names and addresses clients use. */
  hosts: readonly string[];
  /** The site's files, both or neither. */
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  /** The authority of the site's certificate, for those who fetch it. */
  authorityFile?: string | undefined;
}

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
