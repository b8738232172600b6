// Reads the address of a PostgreSQL database, in the form of its own tools: postgres://user:password@host:port/database?sslmode=…
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

export interface PostgresAddress {
  /** A host name, an IP address, or the folder of a Unix socket. */
  host: string;
  port: number;
  database: string;
  user: string;
  password: string | undefined;
  /** Options for the session, as with `psql`: `-c search_path=larder`. */
  options: string | undefined;
  /** `false` if the connection is not encrypted: over a Unix socket, or because the address says so. */
  tls: ServerIdentity | false;
}

/** How the store verifies the server, and how the server verifies the store. */
interface ServerIdentity {
  mode: (typeof modes)[number];
  /** The files of the certificate authority, the client certificate and its key, if the address names them. */
  files: { ca: string | undefined; cert: string | undefined; key: string | undefined };
}

const modes = ['verify-full', 'verify-ca', 'require'] as const;

/** Placeholder for a missing host. */
const socket = 'socket.invalid';

/** The parameters that an address may have after its `?`. */
const parameterNames = ['host', 'options', 'sslcert', 'sslkey', 'sslmode', 'sslrootcert'];

/** Reads an address. The error never contains the password. */
export function readAddress(text: string): PostgresAddress {
  const read = parseAddress(text);
  if ('wrong' in read) throw new Error(`cannot use the address of PostgreSQL: ${read.wrong}`);
  return read;
}

/** The same, but returns the problem as a clause without a full stop. */
export function parseAddress(text: string): PostgresAddress | { wrong: string } {
  // An address for a Unix socket has no host before the path, which URL does not accept after a user name.
  const whole = text.replace(/^(\w+:\/\/[^/?]*@)(?=\/)/, `$1${socket}`);
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    return { wrong: 'write it as postgres://user@host:5432/database' };
  }
  const unknown = [...url.searchParams.keys()].find((name) => !parameterNames.includes(name));
  // The message does not quote the parameter: if the password contains a question mark, the name is a part of the password.
  if (unknown !== undefined) return { wrong: `behind its question mark it may say ${parameterNames.join(', ')}` };
  const readParameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const names = decoded(url);
  if (names === undefined) return { wrong: 'write a percent sign in it as %25' };
  const host = readParameter('host') ?? (names.host === socket ? '' : names.host.replace(/^\[(.*)\]$/, '$1'));
  const { database, user, password } = names;
  for (const [name, value] of Object.entries({ host, database, user })) {
    if (value === '') return { wrong: `it does not say which ${name}` };
  }
  const tls = tlsOf(host, readParameter);
  if (tls !== false && 'wrong' in tls) return tls;
  return {
    host,
    port: Number(url.port || '5432'),
    database,
    user,
    password: password === '' ? undefined : password,
    options: readParameter('options'),
    tls,
  };
}

function decoded({ hostname, pathname, username, password }: URL) {
  const parts = [hostname, pathname.slice(1), username, password];
  try {
    const [host = '', database = '', user = '', secret = ''] = parts.map(decodeURIComponent);
    return { host, database, user, password: secret };
  } catch {
    return undefined;
  }
}

/** Returns where the database is, in words for a person and without secrets. */
export const describeAddress = ({ host, port, database }: PostgresAddress): string =>
  `the database ${database} at ${isSocket(host) ? host : `${host}:${String(port)}`}`;

/** The same for an address from the configuration or a command. */
export const describeAddressText = (address: string): string => describeAddress(readAddress(address));

const isSocket = (host: string): boolean => host.startsWith('/');

/** Returns how to verify the server: by a certificate for its name, unless the address asks for less. */
function tlsOf(
  host: string,
  readParameter: (name: string) => string | undefined,
): PostgresAddress['tls'] | { wrong: string } {
  const sslMode = readParameter('sslmode') ?? (isSocket(host) ? 'disable' : 'verify-full');
  if (sslMode === 'disable') return false;
  const mode = modes.find((candidate) => candidate === sslMode);
  if (mode === undefined) return { wrong: `its sslmode may be ${modes.join(', ')} or disable` };
  return {
    mode,
    files: { ca: readParameter('sslrootcert'), cert: readParameter('sslcert'), key: readParameter('sslkey') },
  };
}

/** Returns the options for TLS. The files are read for each connection, because certificates are renewed. */
export function tlsOptions({ host, tls }: Pick<PostgresAddress, 'host' | 'tls'>): ConnectionOptions | false {
  if (tls === false) return false;
  const { mode, files } = tls;
  const entries = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    host,
    rejectUnauthorized: mode !== 'require',
    minVersion: 'TLSv1.2',
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...Object.fromEntries(entries.map(([name, path]) => [name, fileAt(path)])),
  };
}

function fileAt(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new Error(`cannot read ${path}, which the address of PostgreSQL names`, { cause });
  }
}
