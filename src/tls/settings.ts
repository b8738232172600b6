// Derives the settings of TLS from the configuration, for the keeper and the server.
import type { Config } from '#configuration/config.ts';
import { tlsOptions } from './options.ts';

export interface ServerTls {
  /** The certificate with its chain, and the key: PEM. */
  certificate: string;
  key: string;
  /** The authority that clients trust: the store's own, or the site's if the configuration names it. */
  authority: string | undefined;
  /** Whether it is the store's own, and renewed by the store. */
  own: boolean;
  /** SHA-256 that people compare: of the authority, or of the site's certificate. */
  fingerprint: string;
  hosts: string[];
  ends: Date;
}

export interface TlsSettings {
  /** The names and addresses that clients use. */
  hosts: readonly string[];
  /** The site's files, both or neither. */
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  /** The authority of the site's certificate, for clients that download it. */
  authorityFile?: string | undefined;
  /** The name of the key of the store's own authority in the key manager; undefined if it is in the data directory. */
  authorityKey?: string | undefined;
}

/** TLS is on exactly when the base URL says https. */
export const speaksTls = ({ http }: Config): boolean => http.base_url.startsWith('https:');

/** The names in the server's certificate, and the site's files. */
export const tlsSettings = ({ http, tls }: Config): TlsSettings => ({
  hosts: [new URL(http.base_url).hostname.replace(/^\[|\]$/g, ''), ...tls.names],
  certificateFile: tls.certificate_file,
  keyFile: tls.key_file,
  authorityFile: tls.authority_file,
  authorityKey: tls.authority_key,
});

/** The options of a TLS server; undefined without TLS. */
export const secureContext = (tls: { certificate: string; key: string } | undefined) =>
  tls && { ...tlsOptions, cert: tls.certificate, key: tls.key };
