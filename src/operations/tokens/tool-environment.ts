// What goes into a publishing tool's environment so that it talks to this store with a token, as its own source reads it.
import { createHash } from 'node:crypto';

import { tokenVariable, toolAddresses } from '#domain/publishing-tools.ts';
import type { Config } from '#src/config.ts';

export const tools = ['snapcraft', 'charmcraft', 'curl'] as const;
export type Tool = (typeof tools)[number];

export const isTool = (text: string | undefined): text is Tool => tools.some((tool) => tool === text);

interface Store {
  config: Config;
  /** The certificate of the store's own authority, PEM, where clients have to trust one. */
  authority: string | undefined;
}

/** The variables by their names; those for curl are of the shell alone, and are used as `curl $base/… -H "$auth"`. */
export function environmentOf(tool: Tool, token: string, { config }: Pick<Store, 'config'>): Record<string, string> {
  const base = config.http.base_url.replace(/\/$/, '');
  // Both tools decode what is exported, and take what is no JSON for the token itself.
  const exported = Buffer.from(token).toString('base64');
  switch (tool) {
    case 'snapcraft':
    case 'charmcraft':
      return { ...toolAddresses(tool, { base, registry: config.registry.external }), [tokenVariable[tool]]: exported };
    case 'curl':
      return { base, auth: `Authorization: Macaroon ${token}` };
  }
}

/** The same as lines for a POSIX shell, to be pasted or given to `eval`. */
export function linesFor(tool: Tool, token: string, store: Store): string {
  const variables = Object.entries(environmentOf(tool, token, store)).map(
    ([name, value]) => `${tool === 'curl' ? '' : 'export '}${name}='${value.replaceAll("'", `'\\''`)}'`,
  );
  return [...trust(tool, store), ...variables].join('\n');
}

/**
 * Where clients have to trust an authority first: it is fetched from the store, without trust, and taken only when it is
 * the very one that lies here.
 */
function trust(tool: Tool, { config, authority }: Store): string[] {
  if (authority === undefined) return [];
  const sum = createHash('sha256').update(authority).digest('hex');
  const names = tool === 'curl' ? ['CURL_CA_BUNDLE'] : ['REQUESTS_CA_BUNDLE', 'SSL_CERT_FILE'];
  return [
    `curl --silent --show-error --insecure --output larder-ca.pem ${config.http.base_url.replace(/\/$/, '')}/ca.pem &&`,
    `  echo '${sum}  larder-ca.pem' | sha256sum --check --quiet &&`,
    `  export ${names.map((name) => `${name}="$PWD/larder-ca.pem"`).join(' ')}`,
  ];
}
