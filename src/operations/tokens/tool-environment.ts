// The environment variables that let a tool use this store with a token, as the sources of the tools read them.
import { createDigest } from '#domain/cryptography.ts';
import { tokenVariable, toolAddresses } from '#domain/tokens/publishing-tools.ts';
import type { Config } from '#configuration/config.ts';

export const tools = ['snapcraft', 'charmcraft', 'images', 'curl'] as const;
export type Tool = (typeof tools)[number];

export const isTool = (text: string | undefined): text is Tool => tools.some((tool) => tool === text);

interface ToolStoreSettings {
  config: Config;
  /** The certificate of the store's own authority as PEM, if clients have to trust one. */
  authority: string | undefined;
}

/** The variables by name. Those for curl are shell variables, used as `curl $base/… -H "$auth"`. */
export function environmentOf(
  tool: Tool,
  token: string,
  { config }: Pick<ToolStoreSettings, 'config'>,
): Record<string, string> {
  const base = config.http.base_url.replace(/\/$/, '');
  // Both tools decode the exported value from base64; if the result is not JSON, they use it as the token itself.
  const exported = Buffer.from(token).toString('base64');
  switch (tool) {
    case 'snapcraft':
    case 'charmcraft':
      return { ...toolAddresses(tool, { base, registry: config.registry.external }), [tokenVariable[tool]]: exported };
    case 'images':
      return {
        // The form of a login that snapd sends as it is (store/tooling/auth.go).
        UBUNTU_STORE_AUTH: Buffer.from(JSON.stringify({ t: 'macaroon', v: token })).toString('base64'),
        UBUNTU_STORE_URL: base,
        // The tools take the store id from the model. For classic images, and without a model, they take it from this variable.
        UBUNTU_STORE_ID: config.store.id,
      };
    case 'curl':
      return { base, auth: `Authorization: Macaroon ${token}` };
  }
}

/** The variables of `environmentOf` as lines for a POSIX shell, to paste or to pass to `eval`. */
export function linesFor(tool: Tool, token: string, store: ToolStoreSettings): string {
  const variables = environmentOf(tool, token, store);
  const lines = tool === 'images' ? imageLines(variables) : assignments(variables, tool === 'curl' ? '' : 'export ');
  return [...trust(tool, store), ...lines].join('\n');
}

const assignments = (variables: Record<string, string>, before: string): string[] =>
  Object.entries(variables).map(([name, value]) => `${before}${name}='${value.replaceAll("'", `'\\''`)}'`);

const loginFile = 'larder-images.login';

/** Writes the login to a file that only its owner reads, sets the variables, and shows the commands of the tools. */
const imageLines = ({ UBUNTU_STORE_AUTH: login = '', ...others }: Record<string, string>): string[] => [
  `printf '%s\\n' '${login}' | install --mode=600 /dev/stdin ${loginFile} &&`,
  `  export UBUNTU_STORE_AUTH="$(cat ${loginFile})"`,
  ...assignments(others, 'export '),
  '# snap download NAME',
  '# snap prepare-image MODEL-FILE FOLDER',
  '# ubuntu-image snap MODEL-FILE',
];

/**
 * The lines that make clients trust the store's authority: they download it without verification, and accept it only if its SHA-256
 * matches the certificate of this store.
 */
function trust(tool: Tool, { config, authority }: ToolStoreSettings): string[] {
  if (authority === undefined) return [];
  const sum = createDigest('content sha256').update(authority).digest('hex');
  const names = tool === 'curl' ? ['CURL_CA_BUNDLE'] : ['REQUESTS_CA_BUNDLE', 'SSL_CERT_FILE'];
  return [
    `curl --silent --show-error --insecure --output larder-ca.pem ${config.http.base_url.replace(/\/$/, '')}/ca.pem &&`,
    `  echo '${sum}  larder-ca.pem' | sha256sum --check --quiet &&`,
    `  export ${names.map((name) => `${name}="$PWD/larder-ca.pem"`).join(' ')}`,
  ];
}
