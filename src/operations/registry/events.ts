// Receives notifications of an external registry (in the format of the distribution project). That registry repeats an event until
// it gets a success, and sends no other event before that, so events of no interest are accepted too.
import { pushExternalImage } from '#acts/images/images.ts';
import type { Access } from '#access/access-rules.ts';
import { readJson } from '#contract/json.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { isSameSecret } from '#access/same-secret.ts';
import { checkShape } from '#contract/schema.ts';
import type { RegistryEvents } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { imageKey, repositoryName, sha256Of } from '#registry/repository.ts';
import { readWholeBody } from './chunks.ts';
import { isManifestType } from '#registry/image-manifest.ts';
import { pusher } from './pusher.ts';

const maxEventBytes = 1024 * 1024;

/** Admits the configured registry, by the secret that its administrator got from this store. */
const configuredRegistry: Access<{ registryHost: string }> = {
  about: 'public',
  permissions: [],
  who: 'the configured registry',
  async admit({ request, registry, config }) {
    const { external, notifications } = config.registry;
    if (external === undefined || !notifications) {
      throw new Refusal('resource-not-found', 'No registry is configured to notify this store of images.');
    }
    const [, presentedSecret = ''] = /^bearer +(\S{1,200})$/i.exec(request.headers.authorization ?? '') ?? [];
    const { secret } = await registry.signedTokens.shared();
    if (!isSameSecret(presentedSecret, secret)) {
      throw new Refusal('unauthorized', "This is not the secret that 'larder registry settings' prints.");
    }
    return { registryHost: external };
  },
};

export const registryEvents = operation({
  name: 'registry_events',
  method: 'POST',
  path: '/registry/events',
  since: 0,
  summary: 'Receive notifications of pushed images from the configured registry.',
  access: configuredRegistry,
  consumes: 'application/octet-stream',
  errors: 'registry',
  prefixed: false,
  response: 'NothingToSay',
  refuses: ['name-unknown', 'unauthorized'],

  async handle({ request, registry, records, acts, registryHost, requestId, log }) {
    const content = readJson((await readWholeBody(request, maxEventBytes)).toString());
    checkShape('RegistryEvents', content);
    let taken = 0;
    for (const event of content.events) {
      const push = await pushOf(event);
      if (push === undefined) continue;
      const { credential, sha256 } = push;
      if (!(await records.externalImages.keepers(credential, sha256)).includes(registryHost)) {
        await acts.do(pushExternalImage, pusher(credential, requestId), { credential, sha256, registry: registryHost });
      }
      registry.news.tell(imageKey(credential, sha256));
      taken++;
    }
    log.debug({ registry: registryHost, events: content.events.length, images: taken }, 'told by the registry');
    return new OperationResponse({ headers: { 'content-type': 'application/json' }, body: '{}' });

    /** A push of an image with credentials of this store, into the repository of those credentials. */
    async function pushOf({ action, target, actor }: RegistryEvents['events'][number]) {
      const sha256 = sha256Of(target?.digest ?? '');
      if (action !== 'push' || sha256 === undefined || !isManifestType(target?.mediaType ?? '')) return undefined;
      const credential = await registry.credentials.findEvenExpired(actor?.name ?? '');
      if (credential?.kind !== 'push' || repositoryName(credential) !== target?.repository) return undefined;
      return { credential, sha256 };
    }
  },
});
