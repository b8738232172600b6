// Connects to an address as a client does, and checks whether clients trust the served certificate: only this detects a
// proxy in front, or a certificate that was renewed by another authority.
import { connect, getCACertificates } from 'node:tls';

import { seconds } from '#domain/clock.ts';

/** The result of a connection: the certificate is trusted, or not and why, or the server cannot be reached and why. */
export type Trust = { trusted: true } | { trusted: false; because: string } | { unreachable: string };

const connectTimeoutMs = seconds(5);

/** @param authority the authority that clients were given to trust, in addition to their system's; PEM */
export function trustAt(address: string, authority: string | undefined): Promise<Trust> {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const ca = [...getCACertificates('system'), ...(authority === undefined ? [] : [authority])];
  return new Promise((resolve) => {
    // Nothing is sent beyond the handshake, so a connection to an untrusted server discloses nothing.
    const socket = connect({
      host,
      port: Number(port || 443),
      ca,
      rejectUnauthorized: false,
      servername: nameOf(host),
    });
    const finish = (trust: Trust): void => {
      socket.destroy();
      resolve(trust);
    };
    socket.setTimeout(connectTimeoutMs, () => {
      finish({ unreachable: `nobody answers at ${address}` });
    });
    socket.once('error', ({ message }) => {
      finish({ unreachable: `${address} cannot be reached: ${message}` });
    });
    socket.once('secureConnect', () => {
      const { authorizationError: error } = socket;
      finish(socket.authorized ? { trusted: true } : { trusted: false, because: inWords(error) });
    });
  });
}

/** Addresses are not server names (RFC 6066 section 3). */
const nameOf = (host: string): string => (/^[0-9.]+$|:/.test(host) ? '' : host);

const words: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has ended',
  CERT_NOT_YET_VALID: 'the certificate has not begun',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'no authority signed the certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  SELF_SIGNED_CERT_IN_CHAIN: 'another authority signed the certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'another authority signed the certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'another authority signed the certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'another authority signed the certificate',
};

/** Node gives only the code, or an error that has it. */
function inWords(error: Error | string | null): string {
  const code = typeof error === 'string' ? error : ((error as { code?: string } | null)?.code ?? 'no reason');
  return words[code] ?? code;
}
