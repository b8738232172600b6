// The address of a PostgreSQL database, as its own tools write it: postgres://user:password@host:port/database?sslmode=…
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

export interface PostgresAddress {
  /** A name, an address, or the folder of a Unix socket. */
  host: string;
  port: number;
  database: string;
  user: string;
  password: string | undefined;
  /** What the server is told for the session, as with `psql`: `-c search_path=larder`. */
  options: string | undefined;
  /** `false` where nothing is encrypted: through a Unix socket, or because the address says so. */
  tls: ConnectionOptions | false;
}

/** In the place of a host that is not there. */
const socket = 'socket.invalid';

/** What an address may say behind its `?`. */
const known = ['host', 'options', 'sslcert', 'sslkey', 'sslmode', 'sslrootcert'];

/** Reads an address; what is wrong with it is said without its password. */
export function readAddress(text: string): PostgresAddress {
  // Who comes through a socket names no host before the path, which other addresses may not leave out behind a user.
  const whole = text.replace(/^(\w+:\/\/[^/?]*@)(?=\/)/, `$1${socket}`);
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw new Error('cannot use the address of PostgreSQL: write it as postgres://user@host:5432/database');
  }
  const unknown = [...url.searchParams.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`cannot use the address of PostgreSQL: it says ${unknown}, and may say ${known.join(', ')}`);
  }
  const said = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const named = url.hostname === socket ? '' : decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const host = said('host') ?? named;
  const [database, user] = [decodeURIComponent(url.pathname.slice(1)), decodeURIComponent(url.username)];
  for (const [name, value] of Object.entries({ host, database, user })) {
    if (value === '') throw new Error(`cannot use the address of PostgreSQL: it does not say which ${name}`);
  }
  return {
    host,
    port: Number(url.port || '5432'),
    database,
    user,
    password: url.password === '' ? undefined : decodeURIComponent(url.password),
    options: said('options'),
    tls: tlsOf(host, said),
  };
}

/** Where the database is, in words for a person, without any secret. */
export const placeOf = ({ host, port, database }: PostgresAddress): string =>
  `the database ${database} at ${isSocket(host) ? host : `${host}:${String(port)}`}`;

const isSocket = (host: string): boolean => host.startsWith('/');

/** How the server is known: by a certificate for its name, unless the address says less. */
function tlsOf(host: string, said: (name: string) => string | undefined): ConnectionOptions | false {
  const mode = said('sslmode') ?? (isSocket(host) ? 'disable' : 'verify-full');
  if (mode === 'disable') return false;
  if (!['verify-full', 'verify-ca', 'require'].includes(mode)) {
    throw new Error(
      `cannot use the address of PostgreSQL: sslmode is ${mode}, and may be verify-full, verify-ca, require or disable`,
    );
  }
  const file = (name: string): Buffer | undefined => {
    const path = said(name);
    try {
      return path === undefined ? undefined : readFileSync(path);
    } catch (cause) {
      throw new Error(`cannot read ${path!}, the ${name} of PostgreSQL`, { cause });
    }
  };
  const [ca, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map(file);
  return {
    host,
    rejectUnauthorized: mode !== 'require',
    minVersion: 'TLSv1.2',
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  };
}
