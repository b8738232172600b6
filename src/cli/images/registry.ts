// larder registry settings, larder registry certificate
import { signedTokensOf } from '#data/store.ts';
import { command, Failure } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const registryCertificate = command({
  name: 'registry certificate',
  summary: 'Print the certificate that an external image registry verifies the tokens of this store with.',
  description: 'It is created at first use, stays the same, and is not secret.',
  examples: ['larder registry certificate', 'larder registry certificate --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async (store) => {
      const { certificate } = await signedTokensOf(store).shared(store.person);
      return { text: certificate.trimEnd(), json: { certificate } };
    }),
});

export const registrySettings = command({
  name: 'registry settings',
  summary: 'Print the configuration for an external image registry, in the format of docker-registry.',
  description:
    'The setting registry.external of larder.toml names the registry. The registry asks this store for access ' +
    'decisions and notifies it of every pushed image. The output contains the secret that the registry ' +
    'authenticates with.',
  options: {
    certificate: {
      type: 'string',
      value: 'FILE',
      summary: 'The path of the certificate on the host of the registry. Default: /etc/docker/registry/larder.pem.',
    },
  },
  examples: ['larder registry settings', 'larder registry settings --certificate /srv/registry/larder.pem'],

  run: ({ options, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { registry, http } = store.config;
      if (registry.external === undefined) {
        throw new Failure(
          'larder.toml names no other registry; set registry.external, such as "registry.internal:5000"',
        );
      }
      const { secret } = await signedTokensOf(store).shared(store.person);
      const settings = {
        auth: {
          token: {
            realm: `${http.base_url}/registry/token`,
            service: registry.external,
            issuer: http.base_url,
            rootcertbundle: options.certificate ?? '/etc/docker/registry/larder.pem',
          },
        },
        ...(registry.notifications && {
          notifications: {
            endpoints: [
              {
                name: 'larder',
                url: `${http.base_url}/registry/events`,
                headers: { Authorization: [`Bearer ${secret}`] },
                timeout: '5s',
                threshold: 3,
                backoff: '5s',
                ignoredmediatypes: ['application/octet-stream'],
              },
            ],
          },
        }),
      };
      return { text: yaml(settings).trimEnd(), json: settings };
    }),
});

type RegistrySetting = string | number | readonly RegistrySetting[] | { readonly [name: string]: RegistrySetting };

/** Formats settings as YAML; strings are written as JSON, which YAML accepts. */
function yaml(settings: RegistrySetting, indent = ''): string {
  if (Array.isArray(settings)) {
    return (settings as readonly RegistrySetting[])
      .map((member) => `${indent}- ${yaml(member, `${indent}  `).trimStart()}`)
      .join('');
  }
  if (typeof settings !== 'object') return `${indent}${JSON.stringify(settings)}\n`;
  return Object.entries(settings as Record<string, RegistrySetting>)
    .map(([name, value]) =>
      typeof value === 'object'
        ? `${indent}${name}:\n${yaml(value, `${indent}  `)}`
        : `${indent}${name}: ${JSON.stringify(value)}\n`,
    )
    .join('');
}
