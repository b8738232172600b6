// The address of the blobs of a store in S3: `https://HOST:PORT/BUCKET/PREFIX`.

export interface BucketAddress {
  /** The server, without a path. */
  endpoint: string;
  host: string;
  bucket: string;
  /** The prefix of every key of the store: empty, or ending with a slash. */
  prefix: string;
}

/** The credentials of the store at the server. */
export interface BucketCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The credentials, and the certificate authority of the server. */
export interface BucketAccess extends BucketCredentials {
  region: string;
  /** Returns the current credentials after the server has refused the earlier ones. */
  renewed?: () => BucketCredentials;
  /** Certificates of the authority that signed the server's, as PEM; if absent, the authorities that Node trusts. */
  authority?: string | undefined;
}

/** Throws a `RangeError` with a message that completes a sentence beginning with "it". */
export function parseBucketAddress(text: string): BucketAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new RangeError('is not of the form https://HOST:PORT/BUCKET/PREFIX');
  }
  if (url.username !== '' || url.password !== '') {
    throw new RangeError('contains a name or a password; put them into a file and name it in credentials_file');
  }
  if (url.search !== '' || url.hash !== '') throw new RangeError('must not have a query (?) or a fragment (#)');
  const [, bucket = '', ...rest] = url.pathname.split('/');
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new RangeError('has no bucket: 3 to 63 lower-case letters, digits, dots and dashes after the host');
  }
  const parts = rest.filter((part, nth) => part !== '' || nth < rest.length - 1);
  if (parts.some((part) => !/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}$/.test(part)) || parts.length > 8) {
    throw new RangeError('has a prefix that is not made of letters, digits, dots, dashes and underscores');
  }
  return {
    endpoint: url.origin,
    host: url.host,
    bucket,
    prefix: parts.map((part) => `${part}/`).join(''),
  };
}

/** The problem of an address, as words that follow "it"; undefined if it is valid. */
export function bucketProblem(text: string): string | undefined {
  try {
    parseBucketAddress(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The address as shown to people. */
export const formatBucketAddress = ({ endpoint, bucket, prefix }: BucketAddress): string =>
  `${endpoint}/${bucket}/${prefix}`.replace(/\/$/, '');
