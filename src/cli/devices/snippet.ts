// larder device snippet
import { parseAssertion, stream } from '#assertions/format/assertion.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import { leadsTo, storeAssertionMissing } from '#assertions/store-assertion.ts';
import { Refusal } from '#domain/refusal.ts';
import { readCertificates } from '#tls/keeper.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import type { StoreHandle } from '#data/store.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const deviceSnippet = command({
  name: 'device snippet',
  summary: 'Print the lines that point a device here, to be run on it as root.',
  description:
    'The lines contain everything that the device needs: the certificate authority if the store has one, the ' +
    'store assertion with its prerequisites, and the settings. They are the same for every device, and contain no ' +
    'secrets. The online store signs the store assertion after the owner of this store has registered it there. A ' +
    'classic system needs no store assertion: --without-assertion sets the address in the environment of snapd instead.',
  options: {
    'without-assertion': {
      type: 'boolean',
      summary: 'For a classic system: set SNAPPY_FORCE_API_URL for snapd; no store assertion is needed.',
    },
  },
  examples: ['larder device snippet', 'larder device snippet --without-assertion'],

  run: ({ options, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { config } = store;
      const assertions = options['without-assertion'] ? undefined : await storeStream(store);
      const authority = speaksTls(config) ? readCertificates(data, tlsSettings(config))?.authority : undefined;
      const { id } = config.store;
      const text = snippet({ id, url: config.http.base_url, assertions, authority });
      return {
        text,
        json: { store: id, stream: assertions ?? null, 'ca-certificate': authority ?? null, snippet: text },
      };
    }),
});

const otherWay = "'larder device snippet --without-assertion' prints lines for a classic system that need none.";

/** The store assertion with its prerequisites; refused if it would not lead a device to this store. */
async function storeStream({ records, config }: Pick<StoreHandle, 'records' | 'config'>): Promise<string> {
  const { id } = config.store;
  const stored = await records.assertions.find(`store/${id}`);
  if (stored === undefined) {
    throw new Refusal('resource-not-found', `${storeAssertionMissing(id)} ${otherWay}`);
  }
  const assertion = parseAssertion(stored.text);
  const { url } = assertion.headers;
  const { base_url: own } = config.http;
  if (!leadsTo(assertion, own)) {
    const addressText = typeof url === 'string' ? `names the address ${url}` : 'names no address';
    throw new Refusal(
      'conflict',
      `The store assertion of '${id}' ${addressText}, and this store is at ${own}: devices would not come here. ` +
        `Let the online store sign one for this address, or change http.base_url. ${otherWay}`,
    );
  }
  return stream(await withPrerequisites(assertion, (names) => records.assertions.listOf(names)));
}

interface SnippetParameters {
  id: string;
  url: string;
  /** Undefined for a device that finds this store through snapd's environment. */
  assertions: string | undefined;
  /** PEM; undefined if devices need none. */
  authority: string | undefined;
}

/** A script for a POSIX shell. Values from assertions and files are quoted; the end mark of the here-document is not in them. */
function snippet({ id, url, assertions, authority }: SnippetParameters): string {
  const end = 'END-OF-ASSERTIONS';
  if (assertions?.includes(end)) throw new Refusal('conflict', `An assertion holds the text ${end}.`);
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `# Points this device at the store ${id}, ${url}. To be run as root.`,
    'set -e',
    ...(authority === undefined ? [] : [`snap set system store-certs.larder=${quote(authority.trimEnd())}`]),
    ...(assertions === undefined ? byEnvironment(quote(url)) : byAssertion({ assertions, end, store: quote(id) })),
  ].join('\n');
}

const byEnvironment = (url: string): string[] => [
  'mkdir -p /etc/systemd/system/snapd.service.d',
  `printf '[Service]\\nEnvironment=SNAPPY_FORCE_API_URL=%s\\n' ${url} > /etc/systemd/system/snapd.service.d/larder.conf`,
  'systemctl daemon-reload',
  'systemctl restart snapd',
];

function byAssertion({ assertions, end, store }: { assertions: string; end: string; store: string }): string[] {
  return [
    'assertions=$(mktemp)',
    `trap 'rm -f "$assertions"' EXIT`,
    `cat > "$assertions" << '${end}'`,
    assertions.trimEnd(),
    end,
    'snap ack "$assertions"',
    `snap set core proxy.store=${store}`,
  ];
}
