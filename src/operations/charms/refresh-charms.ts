// Answers juju's call to deploy and to refresh: one call for all its applications.
import type { HandlerRecords } from '#http/handler-records.ts';
import { operation } from '#http/operation.ts';
import { publicCharms, type PublicCharms } from '#access/public-charms.ts';
import type {
  CharmRefreshAction,
  CharmRefreshContext,
  CharmRefreshResponse,
  CharmRefreshResult,
  CharmResource,
} from '#contract/wire.ts';
import { unexpired } from '#domain/releases/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import {
  chooseCharm,
  type ChosenCharmRevision,
  type CharmUnavailableError,
  type CharmRevisionRequest,
} from './choose-charm.ts';
import { selectFields, parseFieldSelection, selectionWithin, type CharmFieldSelection } from './field-selection.ts';
import { findPinnedResources } from './resources.ts';
import { presentCharm } from './served-charm.ts';

export const refreshCharms = operation({
  name: 'refresh_charms',
  method: 'POST',
  path: '/v2/charms/refresh',
  since: 0,
  summary: 'Select the revisions of charms and bundles for juju to deploy, refresh to or download.',
  access: publicCharms,
  body: 'CharmRefreshRequest',
  response: 'CharmRefreshResponse',
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,

  async handle({ body, charms, records, config, now }): Promise<CharmRefreshResponse> {
    const context = new Map((body.context ?? []).map((item) => [item['instance-key'], item]));
    const actions = body.actions ?? [];
    refuseConfusion(actions, context);
    const selection = parseFieldSelection(body.fields?.join(','));
    const results: CharmRefreshResult[] = [];
    for (const action of actions) {
      const item = context.get(action['instance-key']);
      results.push(
        await resultOf(action, item, { selection, charms, records, baseUrl: config.http.base_url, now: now() }),
      );
    }
    return { results };
  },
});

interface CharmRefreshCall {
  selection: CharmFieldSelection;
  charms: PublicCharms;
  records: Pick<HandlerRecords, 'releases' | 'revisions' | 'resourceRevisions'>;
  baseUrl: string;
  now: Date;
}

/** Throws if an error concerns the whole call and not one item. */
function refuseConfusion(
  actions: readonly CharmRefreshAction[],
  context: ReadonlyMap<string, CharmRefreshContext>,
): void {
  const seen = new Set<string>();
  for (const [at, { action, 'instance-key': key }] of actions.entries()) {
    if (seen.has(key)) throw new Refusal('api-error', `Two actions have the instance-key '${key}' at /actions/${at}`);
    seen.add(key);
    if (action !== 'refresh' || context.has(key)) continue;
    throw new Refusal('api-error', `The context has no entry with the instance-key '${key}' at /actions/${at}`);
  }
}

const isSaid = (text: string | null | undefined): text is string => typeof text === 'string' && text !== '';

const idOf = ({ id }: CharmRefreshAction, item: CharmRefreshContext | undefined): string | undefined =>
  [id, item?.id].find(isSaid);

async function resultOf(
  action: CharmRefreshAction,
  item: CharmRefreshContext | undefined,
  calling: CharmRefreshCall,
): Promise<CharmRefreshResult> {
  const { charms, records, now } = calling;
  const key = { 'instance-key': action['instance-key'] };
  const id = idOf(action, item);
  const charm = await (id === undefined ? charms.findByName(action.name ?? '') : charms.findById(id));
  if (charm === undefined) return { result: 'error', ...key, ...unknown(id, action.name ?? '') };
  const identity = { ...key, id: charm.id, name: charm.name };
  const request = revisionRequestOf(action, item);
  const map = unexpired(await records.releases.held(charm.id), timestamp(now));
  const chosen = await chooseCharm(charm, request, map, { revisions: records.revisions, now });
  if ('code' in chosen) return { result: 'error', ...identity, error: chosen };
  const resourceResult = await resourcesOf(charm, chosen, action, calling);
  if ('code' in resourceResult) return { result: 'error', ...identity, error: resourceResult };
  const { release, effective, revision } = chosen;
  return {
    result: action.action,
    ...identity,
    ...(effective !== undefined && { 'effective-channel': effective }),
    ...(release !== undefined && { 'released-at': release.releasedAt }),
    charm: selectFields(
      { ...presentCharm(charm, revision, calling.baseUrl), resources: resourceResult.resources },
      calling.selection,
    ),
  };
}

const unknown = (id: string | undefined, name: string): Pick<CharmRefreshResult, 'id' | 'name' | 'error'> =>
  id === undefined
    ? { name, error: { code: 'name-not-found', message: `There is no charm or bundle named '${name}'.` } }
    : { id, error: { code: 'id-not-found', message: `There is no charm or bundle with the id '${id}'.` } };

/** Members of the action take precedence over the context. */
const revisionRequestOf = (
  action: CharmRefreshAction,
  item: CharmRefreshContext | undefined,
): CharmRevisionRequest => ({
  channel: [action.channel, item?.['tracking-channel']].find(isSaid),
  revision: action.revision ?? undefined,
  base: action.base ?? item?.base ?? undefined,
  has: item?.revision,
  isNew: action.action !== 'refresh',
});

/** The resources of the release, replaced by the revisions that juju names. For a charm by revision number, only the named ones. */
async function resourcesOf(
  charm: PublishedPackage,
  { revision, release }: ChosenCharmRevision,
  { 'resource-revisions': pinned }: CharmRefreshAction,
  { selection, records: { resourceRevisions }, baseUrl }: CharmRefreshCall,
): Promise<{ resources: CharmResource[] } | (Pick<CharmUnavailableError, 'message'> & { code: string })> {
  if (selectionWithin(selection, 'resources') === undefined) return { resources: [] };
  const released = (release?.resources ?? []).filter(
    (resource): resource is typeof resource & { revision: number } =>
      resource.revision !== null && !pinned?.some(({ name }) => name === resource.name),
  );
  const { said: declarations } = revision.details;
  const fromRelease = await findPinnedResources(charm, released, declarations, { resourceRevisions, baseUrl });
  const fromRequest = await findPinnedResources(charm, pinned ?? [], declarations, { resourceRevisions, baseUrl });
  const { missing } = fromRequest;
  if (missing === undefined) return { resources: [...fromRelease.resources, ...fromRequest.resources] };
  return {
    code: 'resource-not-found',
    message: `There is no revision ${missing.revision} of the resource '${missing.name}' of '${charm.name}'.`,
  };
}
