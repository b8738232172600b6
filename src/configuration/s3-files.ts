// The files that the configuration names for a server of S3: whom it knows, and who vouches for it.
import { parse } from 'smol-toml';

import { readIfThere } from '#files/read.ts';

/** Certificates, PEM. */
export const authorityIn = (file: string): string => read(file, 'the authority of the server of S3');

/** What the server knows the store by: two lines of TOML, `access_key_id` and `secret_access_key`. */
export function credentialsIn(file: string): { accessKeyId: string; secretAccessKey: string } {
  const wrong = new Error(
    `cannot use ${file}: it must have two lines of TOML, access_key_id = "…" and secret_access_key = "…"`,
  );
  const text = read(file, 'the credentials for the server of S3');
  let said: Record<string, unknown>;
  try {
    said = parse(text);
  } catch {
    // What it says is a secret, and an error of the parser repeats some of it.
    throw wrong;
  }
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, ...others } = said;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 512;
  if (!isText(accessKeyId) || !isText(secretAccessKey) || Object.keys(others).length > 0) throw wrong;
  return { accessKeyId, secretAccessKey };
}

function read(file: string, what: string): string {
  const text = readIfThere(file);
  if (text === undefined) throw new Error(`cannot find ${what}: there is no ${file}`);
  return text;
}
