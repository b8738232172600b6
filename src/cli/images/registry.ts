// larder registry settings, larder registry certificate
import { signedTokensOf } from '#data/store.ts';
import { command, Failure } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const registryCertificate = command({
  name: 'registry certificate',
  summary: 'Print the certificate by which another registry of images knows the tokens of this store.',
  description: 'It is made when it is first asked for, stays the same, and is no secret.',
  examples: ['larder registry certificate', 'larder registry certificate --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async (store) => {
      const { certificate } = await signedTokensOf(store).shared(store.person);
      return { text: certificate.trimEnd(), json: { certificate } };
    }),
});

export const registrySettings = command({
  name: 'registry settings',
  summary: "Print what the configuration of another registry of images needs, in docker-registry's words.",
  description:
    'The registry is the one that registry.external of larder.toml names. It then asks this store who may do what in it, ' +
    'and tells it of every image that was pushed. The secret by which it proves itself is in what is printed.',
  options: {
    certificate: {
      type: 'string',
      value: 'FILE',
      summary: "Where the certificate will lie on the registry's host; otherwise /etc/docker/registry/larder.pem.",
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
