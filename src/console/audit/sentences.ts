// Sentences for entries of the audit log: "ada released snap/hello 2 to latest/stable".
import { toActName } from '#acts/audit-words.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, joined, type HtmlContent, type Html } from '#http/pages/html.ts';
import { isNamespace } from '#domain/packages/namespace.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { addressOf } from '../packages/address.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import type { TimelineEvent } from '../parts/timeline.ts';

/**
 * The predicates of acts. `{}` is the object as a link, `{name}` is a member of the details. Other acts are told by their names, such as
 * "deleted track of snap/hello".
 */
const predicates: Readonly<Record<string, string>> = {
  accept_bucket: 'accepted the bucket of the blobs',
  accept_clock: 'accepted the clock',
  accept_finding: 'accepted {vulnerability} in {}',
  accept_invite: 'accepted an invite to {}',
  accept_package: 'took over {}',
  accept_transfer: 'accepted {}',
  add_approver_key: 'added an approver key to {}',
  add_remodel_allowlist: 'permitted remodels in {}',
  add_guardrail: 'added a guardrail to {}',
  approve_proposal: 'approved {}',
  approve_upload: 'approved an upload to {}',
  begin_browser_session: 'logged in to the console',
  change_approval_policy: 'changed the approval policy',
  change_group_roles: 'changed the roles of {} by its groups',
  change_own_password: 'changed their password',
  change_role: 'changed the role {role} of {}',
  change_setting: 'changed the configuration',
  create_account: 'created {}',
  create_brand: 'created {}',
  create_fleet: 'created {}',
  create_model: 'created {}',
  create_serial_policy: 'created a serial policy for {}',
  create_signing_key: 'created the signing key {name}',
  create_store: 'created the store',
  create_tracks: 'created the track {tracks} of {}',
  delete_fleet: 'deleted {}',
  delete_revisions: 'deleted revisions of {}',
  delete_remodel_allowlist: 'removed remodels from {}',
  delete_signing_key: 'deleted {}',
  delete_track: 'deleted the track {track} of {}',
  disable_account: 'disabled {}',
  discard_transfer: 'discarded {}',
  distrust_source: 'ended the trust in {}',
  enable_account: 'enabled {}',
  end_tokens: 'revoked all tokens of {}',
  exchange_admin_credential: 'logged in at the command line',
  exchange_macaroons: 'exchanged tokens for a session',
  export_audit_log: 'exported the audit log',
  grant_to_devices: 'granted {} to devices',
  hand_over_package: 'handed over {}',
  import_assertions: 'imported assertions',
  import_feed: 'imported a feed of advisories',
  remove_larder_release: 'removed a kept release of larder',
  import_package: 'imported revision {revision} of {}',
  invite_account: 'made a set-up link for {}',
  invite_collaborators: 'invited collaborators to {}',
  issue_token: 'issued a token',
  log_in: 'logged in',
  make_backup: 'backed up the store',
  make_request: 'made request {number}',
  make_transfer: 'made transfer {sequence}',
  pause_rollout: 'paused the rollout of {} {revision} to {channel}',
  propose_change: 'proposed a change of {}',
  push_resource: 'pushed the resource {resource} of {}',
  push_revision: 'pushed a revision of {}',
  raise_rollout: 'raised the rollout of {} {revision} to {percentage} % of {channel}',
  receive_transfer: 'received transfer {sequence} of {source}',
  record_drill: 'restored {} in a drill',
  record_failed_backup: 'recorded a failed backup',
  record_findings: 'recorded the vulnerabilities of {}',
  record_latest_time: 'recorded the time',
  record_site_key: 'recorded the site key',
  register_name: 'registered {}',
  reject_proposal: 'rejected {}',
  reject_upload: 'rejected an upload to {}',
  remove_collaborator: 'removed a collaborator from {}',
  remove_guardrail: 'removed a guardrail from {}',
  restore_revision: 'restored revision {revision} of {}',
  resume_rollout: 'resumed the rollout of {} {revision} to {channel}',
  revoke_from_devices: 'took {} back from devices',
  revoke_macaroon: 'revoked one of their tokens',
  revoke_serial: 'revoked {}',
  revoke_token: 'revoked a token',
  roll_back_rollout: 'rolled back {} {revision} in {channel}',
  rotate_root_key: 'rotated the keys of tokens',
  rotate_source: 'trusted the new keys of {}',
  seal_master_key: 'sealed the master key',
  set_account_password: 'set the password of {}',
  set_account_totp: 'changed the one-time passwords of {}',
  set_manual_review: 'changed the manual review of {}',
  set_password: 'chose a password',
  set_quota: 'changed the quota of {}',
  subscribe: 'subscribed to packages',
  trust_source: 'trusted {}',
  unsubscribe: 'ended {}',
  update_fleet_devices: 'changed the devices of {}',
  update_package_metadata: 'changed the metadata of {}',
  update_track: 'changed the track {track} of {}',
  verify_records: 'verified the records',
  withdraw_revision: 'withdrew revision {revision} of {}',
};

type Details = Readonly<Record<string, unknown>>;

/** The releases of an entry in a sentence: `released snap/hello 2 to latest/stable and closed latest/edge`. */
function releasePredicate(object: Html, releases: readonly (readonly [string, number | null])[]): HtmlContent {
  const channel = (name: string): Html => html`<span class="channel">${name}</span>`;
  const revisions = [...new Set(releases.map(([, revision]) => revision))];
  const clauses = revisions.map((revision) => {
    const channels = releases.filter(([, other]) => other === revision).map(([name]) => channel(name));
    return revision === null
      ? html`closed ${joined(channels, ', ')} of ${object}`
      : html`released ${object} ${revision} to ${joined(channels, ', ')}`;
  });
  return joined(clauses, ' and ');
}

const irregular: Readonly<Record<string, string>> = {
  begin: 'began',
  hold: 'held',
  leave: 'left',
  make: 'made',
  scan: 'scanned',
  skip: 'skipped',
  sweep: 'swept',
  withdraw: 'withdrew',
};
const unchanged = new Set(['put', 'read', 'set']);

/** `delete_track` → `deleted track`. */
function pastOf(action: string): string {
  const [verb = '', ...others] = action.split('_');
  const past = unchanged.has(verb) ? verb : (irregular[verb] ?? `${verb.replace(/y$/, 'i').replace(/e$/, '')}ed`);
  return [past, ...others].join(' ');
}

function predicateOf({ action, object: text, details: json }: AuditRow, object: Html): HtmlContent {
  const name = toActName(action);
  const details = JSON.parse(json) as Details;
  const { releases } = details;
  if (name === 'push_releases' && Array.isArray(releases)) {
    return releasePredicate(object, releases as [string, number | null][]);
  }
  const predicate = Object.hasOwn(predicates, name) ? predicates[name] : undefined;
  if (predicate === undefined) return html`${pastOf(name)}${text.includes('/') ? html`: ${object}` : ''}`;
  return predicate
    .split(/(\{\w*\})/)
    .map((piece) => (piece === '{}' ? object : piece.startsWith('{') ? memberOf(details, piece.slice(1, -1)) : piece));
}

const shorten = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;

/** A member of the details as text; at most 60 characters. */
function memberOf(details: Details, name: string): string {
  const value = details[name];
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '').replaceAll(/[[\]"]/g, '');
  return shorten(text, 60);
}

interface ObjectContext {
  nameOf: (id: string) => string;
  /** Whether an object such as `snap/hello` is a package of this store now. */
  isPackage: (object: string) => boolean;
  administers: boolean;
}

/** A brand, or a part of one, in words: `brand/ACCOUNT/model/pump` is the model pump of the brand. */
function ofBrand(object: string, name: string): Html {
  const [, , kind = '', ...rest] = object.split('/');
  const part = shorten(rest.join('/'), kind === 'signing-key' ? 14 : 30);
  const words =
    { model: 'model', 'signing-key': 'signing key', 'remodel-allowlist': 'remodel allowlist' }[kind] ?? kind;
  return kind === '' ? html`brand ${name}` : html`the ${words}${part === '' ? '' : ` ${part}`} of brand ${name}`;
}

/** The object as a link to its page, if it has one that the reader may see. */
function objectOf(object: string, { nameOf, isPackage, administers }: ObjectContext): Html {
  const [kind = '', id = ''] = object.split('/');
  const link = (to: string, words: string): Html => (administers ? html`<a href="${to}">${words}</a>` : html`${words}`);
  if (isPackage(`${kind}/${id}`)) return link(addressOf({ namespace: kind, name: id }), object);
  const part = encodeURIComponent(id);
  switch (id === '' ? '' : kind) {
    case 'account':
      return link(`/console/people/${part}`, nameOf(id));
    case 'fleet':
      return html`fleet ${id}`;
    case 'brand':
      return ofBrand(object, nameOf(id));
    case 'transfer':
      return html`<a href="/console/carry/transfers/${part}">a transfer</a>`;
    case 'proposal':
      return html`<a href="/console/waiting/proposals/${part}">proposal ${id}</a>`;
    default:
      return html`${shorten(object, 60)}`;
  }
}

/** Returns which of the objects are packages of this store: a name that was refused or has been removed has no page. */
async function findPackages(
  objects: readonly string[],
  { packages }: Pick<HandlerRecords, 'packages'>,
): Promise<(object: string) => boolean> {
  const present = new Set<string>();
  for (const object of new Set(objects)) {
    const [namespace = '', name = ''] = object.split('/');
    const subject = `${namespace}/${name}`;
    if (!isNamespace(namespace) || present.has(subject)) continue;
    if (await packages.isRegistered(namespace, name)) present.add(subject);
  }
  return (object) => present.has(object);
}

/** Entries as events of a timeline, for a reader who administers the store or not. */
export async function toTimelineEvents(
  records: Pick<HandlerRecords, 'accounts' | 'packages'>,
  rows: readonly AuditRow[],
  administers: boolean,
): Promise<TimelineEvent[]> {
  const accountIds = rows.flatMap(({ object }) => /^(?:account|brand)\/([^/]+)/.exec(object)?.[1] ?? []);
  const label = await readActorLabels([...rows.map(({ actor }) => actor), ...accountIds], records);
  const isPackage = await findPackages(
    rows.map(({ object }) => object),
    records,
  );
  return rows.map((row) => {
    const actor = label(row.actor);
    const refused = row.outcome === 'refused' ? html` <span class="badge note">refused</span>` : '';
    const comma = actor.includes(', ') ? ',' : '';
    const sentence = html`<strong>${actor}</strong>${comma}
      ${predicateOf(row, objectOf(row.object, { nameOf: label, isPackage, administers }))}${refused}.`;
    return { at: row.at, actor, sentence };
  });
}
