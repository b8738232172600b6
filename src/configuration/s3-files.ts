// Reads the files that the configuration names for an S3 server: the credentials and the certificate authority.
import { parse } from 'smol-toml';

import { readIfPresent } from '#files/read.ts';

/** Certificates, PEM. */
export const readS3Authority = (file: string): string => read(file, 'the authority of the server of S3');

/** The credentials of the store: two lines of TOML, `access_key_id` and `secret_access_key`. */
export function readS3Credentials(file: string): { accessKeyId: string; secretAccessKey: string } {
  const wrong = new Error(
    `cannot use ${file}: it must have two lines of TOML, access_key_id = "…" and secret_access_key = "…"`,
  );
  const text = read(file, 'the credentials for the server of S3');
  let credentials: Record<string, unknown>;
  try {
    credentials = parse(text);
  } catch {
    // The file contains a secret, and the error of the parser quotes some of it.
    throw wrong;
  }
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, ...others } = credentials;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 512;
  if (!isText(accessKeyId) || !isText(secretAccessKey) || Object.keys(others).length > 0) throw wrong;
  return { accessKeyId, secretAccessKey };
}

function read(file: string, description: string): string {
  const text = readIfPresent(file);
  if (text === undefined) throw new Error(`cannot find ${description}: there is no ${file}`);
  return text;
}
