// Answers snapd's call to install, refresh and download: one call with all snaps of a device.
import type { IncomingHttpHeaders } from 'node:http';

import { everyRelease } from '#access/account-snaps.ts';
import { snapsForDevice, type VisibleSnap, type SnapsForDevice } from '#access/device-snaps.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { json } from '#http/response/outgoing-response.ts';
import type { RefreshAction, RefreshContext, RefreshResult, SnapEpoch } from '#contract/wire.ts';
import type { CohortKeys } from '#assertions/devices/cohort-keys.ts';
import type { CachedResponses, ResponseKey } from '#http/response/response-cache.ts';
import { Refusal } from '#domain/refusal.ts';
import { isWindowOpen, type RefreshWindow } from '#domain/fleets/refresh-window.ts';
import { canRead, type Epoch } from '#domain/revisions/epoch.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { Delta } from '#records/devices/deltas.ts';
import type { Offer } from '#records/fleets/contacts.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ReportedRevision } from '#records/fleets/seen-devices.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import {
  readDeviceContext,
  chooseRevision,
  type DeviceRequestContext,
  type ChosenSnapRevision,
  type SnapUnavailableError,
  type SnapRevisionRequest,
} from './choose-revision.ts';
import { findComponents } from './components.ts';
import { findDelta, acceptsDeltas } from './deltas.ts';
import { fetchAssertions } from './fetch-assertions.ts';
import { createChannelHistory, type ChannelHistory } from './channel-history.ts';
import { isPinnedBy } from './validation-set-pins.ts';
import { readAnnouncement, fieldsOf, presentDetails, type SnapFieldSelection } from './served-snap.ts';
import {
  refreshResults,
  channelOfUsualRefresh,
  respondWithResults,
  joinResults,
  type CachedRefreshResult,
  type ResultJson,
} from './refresh-result-cache.ts';

export const refreshSnaps = operation({
  name: 'refresh_snaps',
  method: 'POST',
  path: '/v2/snaps/refresh',
  since: 0,
  summary: 'Select the revisions for a device to install, refresh to or download.',
  access: snapsForDevice,
  body: 'RefreshRequest',
  response: 'RefreshResponse',
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle(called) {
    const { body, request, address, device, principal, fleets, snaps, assertions, records, cohortKeys, config, now } =
      called;
    const context = new Map<string, RefreshContext>();
    for (const item of body.context ?? []) context.set(item['instance-key'], item);
    const items = itemsOf(body.actions, context);
    const asker = readDeviceContext(request.headers, device, address, now());
    const { base_url: baseUrl } = config.http;
    const offers: Offer[] = [];
    const fields = fieldsOf(body.fields ?? undefined);
    const deltas = config.devices.deltas && acceptsDeltas(request.headers);
    // The response to an account is for this account alone.
    const isShared = principal === undefined;
    const generation = await records.cacheGenerations.channels(); // before any of those records
    const cachedResults = isShared ? refreshResults.in(generation) : undefined;
    const history = createChannelHistory(records);
    const waits = isOutsideWindow(request.headers, fleets?.window?.window, asker.now);
    const call = { asker, snaps, waits, records, history, cohortKeys, fields, baseUrl, offers, deltas, cachedResults };
    const options = { maxFormats: body['assertion-max-formats'] ?? {}, assertions, baseUrl };
    // One result per action, in the order of the actions. Devices expect no results for snaps that no action named.
    const results: ResultJson[] = [];
    for (const [at, action] of body.actions.entries()) {
      const { action: kind, key = '', assertions: requestedAssertions } = action;
      if (kind === 'fetch-assertions')
        results.push(
          serializeResult({ result: kind, key, ...(await fetchAssertions(requestedAssertions ?? [], options)) }),
        );
      else {
        const result = resultOf(action, items[at], call);
        results.push(result instanceof Promise ? await result : result);
      }
    }
    if (device !== undefined && config.devices.remember) {
      records.noteContact({ ...device, at: asker.at, holds: heldIn(context.values()), offers });
    }
    const bytes = isShared ? respondWithResults(results, generation) : joinResults(results);
    return new OperationResponse({ headers: json, body: bytes });
  },
});

interface SnapRefreshCall {
  asker: DeviceRequestContext;
  snaps: SnapsForDevice;
  records: HandlerRecords;
  history: ChannelHistory;
  cohortKeys: CohortKeys;
  fields: SnapFieldSelection;
  baseUrl: string;
  /** Whether the device accepts deltas. */
  deltas: boolean;
  /** Whether the device refreshes by itself outside the refresh window of its fleet, so it keeps its revisions. */
  waits: boolean;
  /** Collects the revisions that the device is offered to refresh to. */
  offers: Offer[];
  /** Cached results for devices; undefined if the response is for one account. */
  cachedResults: CachedResponses<CachedRefreshResult> | undefined;
}

/** Whether a device refreshes by itself outside the window. snapd names the reason in a header (store/store_action.go). */
const isOutsideWindow = (headers: IncomingHttpHeaders, window: RefreshWindow | undefined, now: Date): boolean =>
  window !== undefined && headers['snap-refresh-reason'] === 'scheduled' && !isWindowOpen(window, now);

const heldIn = (context: Iterable<RefreshContext>): ReportedRevision[] =>
  Array.from(context, ({ 'snap-id': packageId, revision }) => ({ packageId, revision }));

const serializeResult = (result: RefreshResult): string => JSON.stringify(result);

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
      throw new Refusal('api-error', `The context has no entry with the instance-key '${key}' at /actions/${at}`);
    return item;
  });
}

/** Returns synchronously if everything is cached, as is usual for a fleet. */
function resultOf(
  action: RefreshAction,
  item: RefreshContext | undefined,
  call: SnapRefreshCall,
): MaybePromise<ResultJson> {
  const { cachedResults } = call;
  const channel = cachedResults && channelOfUsualRefresh(action, item);
  if (channel === undefined) return buildUncachedResult(action, item, call);
  const cached = cachedResults?.get(resultKey(keyOf(action), { channel, item }, call));
  const epoch = epochOf(item?.epoch ?? action.epoch);
  return cached !== undefined &&
    call.snaps.reaches(cached.snap) &&
    (epoch === undefined || canRead(cached.epoch, epoch))
    ? buildResult({ snap: cached.snap, reach: everyRelease }, cached.chosen, { action, item, cached }, call)
    : buildUncachedResult(action, item, call, channel);
}

/** Builds a result without the cache. `channel` is set for a usual refresh, so the result can be cached. */
function buildUncachedResult(
  action: RefreshAction,
  item: RefreshContext | undefined,
  call: SnapRefreshCall,
  channel?: string,
): MaybePromise<ResultJson> {
  const statedId = action.action === 'refresh' ? item?.['snap-id'] : action['snap-id'];
  // If both are equal, use the string that was looked up before: its hash is already computed.
  const id = statedId === action['instance-key'] ? action['instance-key'] : statedId;
  // A validation set can name a revision of a snap that a fleet hides.
  const evenHidden = typeof action.revision === 'number';
  const lookup =
    id === undefined || id === ''
      ? call.snaps.findByName(action.name ?? '', evenHidden)
      : call.snaps.findById(id, evenHidden);
  return whenReady(lookup, (visibleSnap): MaybePromise<ResultJson> => {
    const key = { 'instance-key': keyOf(action) };
    if (visibleSnap === undefined) return serializeResult({ result: 'error', ...key, ...unknown(id, action.name) });
    const { snap } = visibleSnap;
    const { records, history, cohortKeys, asker } = call;
    const cohortKey = action['cohort-key'] ?? item?.['cohort-key'] ?? '';
    const cohort = cohortKey === '' ? undefined : { madeAt: cohortKeys.madeAt(cohortKey, snap.id, asker.now) };
    const { pastReleases, releases, revisions } = records;
    const revisionRequest = { ...revisionRequestOf(action, item, call), cohort };
    const choosing = chooseRevision(visibleSnap, revisionRequest, asker, {
      pastReleases,
      releases,
      revisions,
      history,
    });
    return whenReady(choosing, (chosen) => {
      if (!('code' in chosen)) {
        // The records of components belong to another cache generation.
        const { epoch, components } = readAnnouncement(chosen.revision);
        const isForAll =
          (chosen.forAll === true ||
            (keptRevision(item, call) !== undefined && chosen.revision.status === 'released')) &&
          (components.length === 0 || !call.fields.resources);
        if (channel === undefined || !isForAll) return buildResult(visibleSnap, chosen, { action, item }, call);
        const result = { key: resultKey(snap.id, { channel, item }, call), snap, chosen, epoch };
        return buildResult(
          visibleSnap,
          chosen,
          { action, item, cached: cacheResult(result, action, undefined, call) },
          call,
        );
      }
      const about = { ...key, 'snap-id': snap.id, name: snap.name };
      return serializeResult({ result: 'error', ...about, error: presentUnavailable(chosen) });
    });
  });
}

/** Caches the result for all devices that make a usual refresh, with a delta if they have the same older revision. */
function cacheResult(
  result: Omit<CachedRefreshResult, 'bytes'>,
  action: RefreshAction,
  delta: Delta | undefined,
  call: SnapRefreshCall,
): CachedRefreshResult {
  const { key, snap, chosen } = result;
  const cached = { ...result, bytes: Buffer.from(wholeResult(snap, chosen, action, { delta }, call)) };
  call.cachedResults?.set(delta === undefined ? key : [...key, delta], cached);
  return cached;
}

/** A device gets the result of its channel, or, while it waits for its window, of its revision. */
function resultKey(
  id: string,
  { channel, item }: { channel: string; item: RefreshContext | undefined },
  { asker, fields, snaps, waits }: SnapRefreshCall,
): ResponseKey {
  const common = [asker.architecture, fields.key, id];
  const currentRevision = keptRevision(item, { waits });
  if (currentRevision !== undefined) return [...common, waiting, String(currentRevision)];
  const view = snaps.viewOf(id);
  return view === undefined ? [...common, channel] : [...common, channel, view];
}

/** A part of a key that no channel is. */
const waiting = {};

/** The revision that a device keeps while it waits for its window; undefined if it does not wait, or has no revision. */
const keptRevision = (
  item: RefreshContext | undefined,
  { waits }: Pick<SnapRefreshCall, 'waits'>,
): number | undefined => (waits && item !== undefined && item.revision > 0 ? item.revision : undefined);

/** The result for a chosen revision; `cached` holds the cached bytes for it. */
function buildResult(
  { snap, reach }: VisibleSnap,
  chosen: ChosenSnapRevision,
  {
    action,
    item,
    cached,
  }: { action: RefreshAction; item: RefreshContext | undefined; cached?: CachedRefreshResult | undefined },
  call: SnapRefreshCall,
): MaybePromise<ResultJson> {
  const { records, fields, baseUrl, offers, deltas } = call;
  const { effective: channel, revision } = chosen;
  const isNews = action.action === 'refresh' && revision.revision !== item?.revision;
  if (isNews && channel !== undefined) {
    const isHeld = (item?.held?.by ?? []).length > 0;
    offers.push({ packageId: snap.id, channel, revision: revision.revision, isHeld });
  }
  // A caller that is limited to some channels gets no delta: the delta could reveal an installed revision that does not exist for it.
  const mayDelta = isNews && deltas && reach.coversChannel === undefined;
  const deltaLookup = mayDelta ? findDelta(snap.id, item?.revision ?? 0, revision.revision, records) : undefined;
  return whenReady(deltaLookup, (delta) => {
    if (cached !== undefined) {
      if (delta === undefined) return cached.bytes;
      return (call.cachedResults?.get([...cached.key, delta]) ?? cacheResult(cached, action, delta, call)).bytes;
    }
    const resources = fields.resources
      ? findComponents(revision, { released: chosen.resources, reach }, records, baseUrl)
      : undefined;
    return whenReady(resources, (resources) => wholeResult(snap, chosen, action, { delta, resources }, call));
  });
}

function wholeResult(
  snap: PublishedPackage,
  chosen: ChosenSnapRevision,
  action: RefreshAction,
  more: Parameters<typeof presentDetails>[4],
  { fields, baseUrl }: SnapRefreshCall,
): string {
  const identity = { 'instance-key': keyOf(action), 'snap-id': snap.id, name: snap.name };
  const details = presentDetails(snap, chosen.revision, fields, baseUrl, more);
  return serializeResult({ result: action.action, ...identity, ...presentChannels(chosen), snap: details });
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

const presentUnavailable = ({
  code,
  message,
  releases,
}: SnapUnavailableError): NonNullable<RefreshResult['error']> => ({
  code,
  message,
  extra: { releases },
});

const presentChannels = ({
  effective,
  redirect,
}: ChosenSnapRevision): Pick<RefreshResult, 'effective-channel' | 'redirect-channel'> => ({
  ...(effective !== undefined && { 'effective-channel': effective }),
  ...(redirect !== undefined && { 'redirect-channel': redirect }),
});

function revisionRequestOf(
  action: RefreshAction,
  item: RefreshContext | undefined,
  { records, waits }: Pick<SnapRefreshCall, 'records' | 'waits'>,
): Omit<SnapRevisionRequest, 'cohort'> {
  const installed = action.action === 'refresh' ? item : undefined;
  const has = installed === undefined || installed.revision === 0 ? undefined : installed.revision;
  const ignoresSets = action['ignore-validation'] ?? item?.['ignore-validation'] ?? false;
  const sets = action['validation-sets'] ?? item?.['validation-sets'] ?? [];
  return {
    channel: action.channel ?? installed?.['tracking-channel'],
    revision: action.revision ?? keptRevision(installed, { waits }),
    isNew: action.action !== 'refresh',
    has,
    epoch: epochOf(installed?.epoch ?? action.epoch),
    isPinned: async (snap, revision) => !ignoresSets && isPinnedBy(sets, snap.id, revision, records),
  };
}

const epochOf = (stated: SnapEpoch | undefined): Epoch | undefined => {
  const { read, write } = stated ?? {};
  return read && write ? { read, write } : undefined;
};
