// Answers snapd's call to install, refresh and download: one call with all snaps of a device.
import { snapsForDevice, type SnapsForDevice } from '#api/device-snaps.ts';
import { Answer, operation } from '#api/operation.ts';
import { json } from '#api/sent.ts';
import type { RefreshAction, RefreshContext, RefreshResult, SnapEpoch } from '#api/wire.ts';
import type { CohortKeys } from '#assertions/cohort-keys.ts';
import { Refusal } from '#domain/refusal.ts';
import { canRead, type Epoch } from '#domain/epoch.ts';
import { then, type Soon } from '#domain/soon.ts';
import type { Offer } from '#records/contacts.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Held } from '#records/seen-devices.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import { askerOf, chooseRevision, type Asker, type Chosen, type NoneToGive, type Wish } from './choosing.ts';
import { componentsOf } from './components.ts';
import { deltaBetween, takesDeltas } from './deltas.ts';
import { fetchAssertions } from './fetch-assertions.ts';
import { historyIn, type History } from './history.ts';
import { isPinnedBy } from './pinned.ts';
import { announced, bytesOf, fieldsOf, knownAnswers, snapText, type Fields, type Pieces } from './served-snap.ts';
import { toldAgain, usualChannel, type Told, type ToldSnaps } from './told-again.ts';

export const refreshSnaps = operation({
  name: 'refresh_snaps',
  method: 'POST',
  path: '/v2/snaps/refresh',
  since: 0,
  summary: 'Choose the revisions that a device installs, refreshes to or downloads.',
  access: snapsForDevice,
  body: 'RefreshRequest',
  response: 'RefreshResponse',
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle(called) {
    const { body, request, address, device, snaps, assertions, records, cohortKeys, config, now } = called;
    const context = new Map<string, RefreshContext>();
    for (const item of body.context ?? []) context.set(item['instance-key'], item);
    const items = itemsOf(body.actions, context);
    const asker = askerOf(request.headers, device, address, now());
    const { base_url: baseUrl } = config.http;
    const offers: Offer[] = [];
    const fields = fieldsOf(body.fields ?? undefined);
    const deltas = config.devices.deltas && takesDeltas(request.headers);
    const told = toldAgain.in(await records.eras.channels(), asker.architecture, fields);
    const history = historyIn(records);
    const call = { asker, snaps, records, history, cohortKeys, fields, baseUrl, offers, deltas, told };
    const options = { maxFormats: body['assertion-max-formats'] ?? {}, assertions, baseUrl };
    // One result per action, in the order of the actions. Devices expect no results for snaps that no action named.
    const results: Pieces = ['{"results":['];
    for (const [at, action] of body.actions.entries()) {
      const { action: kind, key = '', assertions: wanted } = action;
      if (at > 0) results.push(comma);
      if (kind === 'fetch-assertions')
        results.push(written({ result: kind, key, ...(await fetchAssertions(wanted ?? [], options)) }));
      else {
        const pieces = resultOf(action, items[at], call);
        results.push(...(pieces instanceof Promise ? await pieces : pieces));
      }
    }
    if (device !== undefined && config.devices.remember) {
      records.noteContact({ ...device, at: asker.at, holds: heldIn(context.values()), offers });
    }
    return new Answer({ headers: json, body: knownAnswers.of([...results, '],"error-list":[]}']) });
  },
});

interface Calling {
  asker: Asker;
  snaps: SnapsForDevice;
  records: HandlerRecords;
  history: History;
  cohortKeys: CohortKeys;
  fields: Fields;
  baseUrl: string;
  /** Whether the device accepts deltas. */
  deltas: boolean;
  /** Collects the revisions that the device is offered to refresh to. */
  offers: Offer[];
  /** Cached results for devices with the same architecture and fields. */
  told: ToldSnaps;
}

const heldIn = (context: Iterable<RefreshContext>): Held[] =>
  Array.from(context, ({ 'snap-id': packageId, revision }) => ({ packageId, revision }));

const comma = Buffer.from(',');

const written = (result: RefreshResult): string => JSON.stringify(result);

const keyOf = (action: RefreshAction): string => action['instance-key'] ?? '';

/** The installed snap that each action refers to. Throws if an error concerns the whole call and not one item. */
function itemsOf(
  actions: readonly RefreshAction[],
  context: ReadonlyMap<string, RefreshContext>,
): (RefreshContext | undefined)[] {
  const seen = new Set<string>();
  return actions.map((action, at) => {
    if (action.action === 'fetch-assertions') return undefined;
    const key = keyOf(action);
    if (key === '') throw new Refusal('api-error', `'instance-key' is a required property at /actions/${at}`);
    const { size } = seen;
    if (seen.add(key).size === size)
      throw new Refusal('api-error', `Two actions have the instance-key '${key}' at /actions/${at}`);
    const item = context.get(key);
    if (action.action === 'refresh' && item === undefined)
      throw new Refusal('api-error', `The context has nothing of the instance-key '${key}' at /actions/${at}`);
    return item;
  });
}

/** Returns synchronously if everything is cached, as is usual for a fleet. */
function resultOf(action: RefreshAction, item: RefreshContext | undefined, call: Calling): Soon<Pieces> {
  const channel = usualChannel(action, item);
  if (channel === undefined) return resultAnew(action, item, call);
  const told = call.told.of(keyOf(action), channel);
  const epoch = epochOf(item?.epoch ?? action.epoch);
  return told !== undefined && call.snaps.reaches(told.snap) && (epoch === undefined || canRead(told.epoch, epoch))
    ? given(told.snap, told.chosen, { action, item, told }, call)
    : resultAnew(action, item, call, channel);
}

/** Builds a result without the cache. `channel` is set for a usual refresh, so the result can be cached. */
function resultAnew(
  action: RefreshAction,
  item: RefreshContext | undefined,
  call: Calling,
  channel?: string,
): Soon<Pieces> {
  const said = action.action === 'refresh' ? item?.['snap-id'] : action['snap-id'];
  // If both are equal, use the string that was looked up before: its hash is already computed.
  const id = said === action['instance-key'] ? action['instance-key'] : said;
  const found = id === undefined || id === '' ? call.snaps.named(action.name ?? '') : call.snaps.ofId(id);
  return then(found, (snap): Soon<Pieces> => {
    const key = { 'instance-key': keyOf(action) };
    if (snap === undefined) return [written({ result: 'error', ...key, ...unknown(id, action.name) })];
    const { records, history, cohortKeys, asker } = call;
    const cohortKey = action['cohort-key'] ?? item?.['cohort-key'] ?? '';
    const cohort = cohortKey === '' ? undefined : { madeAt: cohortKeys.madeAt(cohortKey, snap.id, asker.now) };
    const { releases, revisions } = records;
    const wish = { ...wishOf(action, item, records), cohort };
    return then(chooseRevision(snap, wish, asker, { releases, revisions, history }), (chosen) => {
      if (!('code' in chosen)) {
        const isForAll = channel !== undefined && chosen.forAll === true && !call.fields.resources;
        const told = isForAll ? keepTold(snap, chosen, { action, channel }, call) : undefined;
        return given(snap, chosen, { action, item, told }, call);
      }
      const about = { ...key, 'snap-id': snap.id, name: snap.name };
      return [written({ result: 'error', ...about, error: noneToGive(chosen) })];
    });
  });
}

/** Caches the result for all devices that make a usual refresh. */
function keepTold(
  snap: PublishedPackage,
  chosen: Chosen,
  { action, channel }: { action: RefreshAction; channel: string },
  call: Calling,
): Told {
  const bytes = bytesOf(wholeResult(snap, chosen, action, {}, call));
  const told = { snap, chosen, epoch: announced(chosen.revision).epoch, bytes };
  call.told.keep(snap.id, channel, told);
  return told;
}

/** The result for a chosen revision; `told` holds the cached bytes for it. */
function given(
  snap: PublishedPackage,
  chosen: Chosen,
  { action, item, told }: { action: RefreshAction; item: RefreshContext | undefined; told?: Told | undefined },
  call: Calling,
): Soon<Pieces> {
  const { records, fields, baseUrl, offers, deltas } = call;
  const { effective: channel, revision } = chosen;
  const isNews = action.action === 'refresh' && revision.revision !== item?.revision;
  if (isNews && channel !== undefined) {
    const isHeld = (item?.held?.by ?? []).length > 0;
    offers.push({ packageId: snap.id, channel, revision: revision.revision, isHeld });
  }
  const found = isNews && deltas ? deltaBetween(snap.id, item?.revision ?? 0, revision.revision, records) : undefined;
  return then(found, (delta) => {
    if (told !== undefined && delta === undefined) return [told.bytes];
    const resources = fields.resources ? componentsOf(revision, chosen.resources, records, baseUrl) : undefined;
    return then(resources, (resources) => wholeResult(snap, chosen, action, { delta, resources }, call));
  });
}

/** Builds a result; only the JSON of the snap and of its revision comes from a cache. */
function wholeResult(
  snap: PublishedPackage,
  chosen: Chosen,
  action: RefreshAction,
  more: Parameters<typeof snapText>[4],
  { fields, baseUrl }: Calling,
): Pieces {
  const said = { 'instance-key': keyOf(action), 'snap-id': snap.id, name: snap.name };
  const about = written({ result: action.action, ...said, ...whereFound(chosen) });
  return [`${about.slice(0, -1)},"snap":`, ...snapText(snap, chosen.revision, fields, baseUrl, more), '}'];
}

function unknown(id: string | undefined, name: string | undefined): Pick<RefreshResult, 'snap-id' | 'name' | 'error'> {
  const error = (code: string, message: string) => ({ error: { code, message } });
  return {
    ...(id !== undefined && { 'snap-id': id }),
    ...(name !== undefined && { name }),
    ...(id === undefined || id === ''
      ? error('name-not-found', `There is no snap named '${name ?? ''}'.`)
      : error('id-not-found', `There is no snap with the id '${id}'.`)),
  };
}

const noneToGive = ({ code, message, releases }: NoneToGive): NonNullable<RefreshResult['error']> => ({
  code,
  message,
  extra: { releases },
});

const whereFound = ({
  effective,
  redirect,
}: Chosen): Pick<RefreshResult, 'effective-channel' | 'redirect-channel'> => ({
  ...(effective !== undefined && { 'effective-channel': effective }),
  ...(redirect !== undefined && { 'redirect-channel': redirect }),
});

function wishOf(
  action: RefreshAction,
  item: RefreshContext | undefined,
  records: HandlerRecords,
): Omit<Wish, 'cohort'> {
  const installed = action.action === 'refresh' ? item : undefined;
  const has = installed === undefined || installed.revision === 0 ? undefined : installed.revision;
  const ignoresSets = action['ignore-validation'] ?? item?.['ignore-validation'] ?? false;
  const sets = action['validation-sets'] ?? item?.['validation-sets'] ?? [];
  return {
    channel: action.channel ?? installed?.['tracking-channel'],
    revision: action.revision ?? undefined,
    isNew: action.action !== 'refresh',
    has,
    epoch: epochOf(installed?.epoch ?? action.epoch),
    isPinned: async (snap, revision) => !ignoresSets && isPinnedBy(sets, snap.id, revision, records),
  };
}

const epochOf = (said: SnapEpoch | undefined): Epoch | undefined => {
  const { read, write } = said ?? {};
  return read && write ? { read, write } : undefined;
};
