import { operation } from '#http/operation.ts';
import { publicCharms } from '#access/public-charms.ts';
import type { CharmResourceRevisions } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { presentResource } from './resources.ts';

export const charmResourceRevisions = operation({
  name: 'charm_resource_revisions',
  method: 'GET',
  path: '/v2/charms/resources/:name/:resource/revisions',
  since: 0,
  summary: 'List the revisions of a resource of a charm, newest first.',
  access: publicCharms,
  response: 'CharmResourceRevisions',
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,

  async handle({ params: { name, resource }, charms, records, config }): Promise<CharmResourceRevisions> {
    const charm = await charms.findByName(name);
    const declared = charm && (await records.resources.declared(charm.id, resource));
    if (charm === undefined || declared === undefined) {
      throw new Refusal(
        'resource-not-found',
        `There is no resource '${resource.slice(0, 64)}' of a charm named '${name.slice(0, 64)}'.`,
      );
    }
    const declarations = (await records.revisions.find(charm.id, declared.revision))?.details.said;
    const revisions = await records.resourceRevisions.list(charm.id, resource);
    return {
      revisions: revisions.reverse().map((revision) => presentResource(revision, declarations, config.http.base_url)),
    };
  },
});
