// How far a narrowed token goes: every operation's record, held against a table written out by hand.
import t from 'tap';

import type { CallSubject } from '#access/access-rules.ts';
import type { Operation } from '#http/operation.ts';
import { identityOperations } from '#identity/operations.ts';
import { operations } from '#operations/index.ts';
import { startStore, type Attenuated, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { bodyOf, pathOf } from '#test/fixtures/requests.ts';

/** What each operation is about. */
const table: Record<CallSubject, string> = {
  public: `root issue_macaroon issue_usso_macaroon offline_exchange_macaroon dashboard_acl discharge_sso_token
    refresh_sso_token upload_blob package_icon ca_certificate metrics openapi_document documents_home documents_door documents_page search_documents favicon
    healthz readyz serving_state status_check read_library bulk_libraries device_request_id device_request_id_of_old device_serial
    device_serial_of_old device_nonce device_session read_assertion read_assertion_of_two_values
    read_assertion_of_three_values read_assertion_of_four_values read_assertion_of_five_values store_assertions registry_version registry_token registry_events start_blob_upload blob_upload_state
    continue_blob_upload finish_blob_upload cancel_blob_upload image_blob image_manifest put_image_manifest
    list_image_tags list_image_referrers delete_image_manifest delete_image_blob refresh_snaps snap_info download_snap create_cohorts find_snaps snap_names
    snap_categories snap_sections device_messages
    find_charms charm_info refresh_charms charm_resource_revisions download_charm download_charm_resource`,
  token: `get_macaroon revoke_macaroon macaroon_info dashboard_whoami exchange_macaroons exchange_usso_macaroons
    exchange_dashboard_macaroons`,
  packages: `list_package_offers list_own_invites list_registered_names register_name dashboard_account dashboard_register_name package_access
    package_permissions add_buildset update_build add_commit_workflow update_commit_workflow
    dashboard_snap_push dashboard_snap_release dashboard_metrics`,
  package: `package_metadata update_package_metadata unregister_package list_revisions push_revision list_upload_reviews
    list_resources list_resource_revisions push_resource update_resource_revisions
    oci_image_resource_upload_credentials oci_image_resource_blob list_releases push_releases create_tracks
    read_package_usage
    list_kept_revisions withdraw_revision restore_revision delete_revisions update_track delete_track create_library publish_library buildset_status filter_commit_workflows
    dashboard_upload_status dashboard_close dashboard_state dashboard_channel_map dashboard_releases dashboard_metadata dashboard_force_metadata
    dashboard_read_binary_metadata dashboard_binary_metadata dashboard_force_binary_metadata dashboard_builds`,
  collaborators: `invite_collaborators revoke_invites accept_invite reject_invite get_all_invites get_pending_invites
    get_collaborators remove_collaborator leave_package offer_package withdraw_package_offer answer_package_offer answer_own_invite`,
  store: `read_brand update_brand delete_brand create_model read_models update_model delete_model create_signing_key
    read_signing_keys read_signing_key_account_key_request delete_signing_key list_remodel_allowlist
    add_remodel_allowlist update_remodel_allowlist delete_remodel_allowlist read_serial_policies create_serial_policy
    delete_serial_policy import_assertions list_serial_log list_serial_log_of_serial dashboard_account_key
    list_packages list_seen_devices read_seen_device read_device_days read_package list_accounts list_brands list_waiting_uploads approve_upload reject_upload storage_use explain_access list_exports list_audit
    list_transfers read_transfer accept_transfer withdraw_transfer discard_transfer list_proposals read_proposal read_proposal_text approve_proposal reject_proposal
    list_guardrails add_guardrail remove_guardrail revoke_serial list_device_grants grant_to_devices revoke_from_devices update_account change_role update_own_account account_holdings read_quota set_quota hand_over_package list_pull_credentials end_pull_credential
    read_changes     list_tokens revoke_token end_tokens disable_account enable_account dashboard_list_validation_sets dashboard_read_validation_set
    dashboard_build_validation_set dashboard_post_validation_set`,
};
const about = new Map(
  Object.entries(table).flatMap(([what, names]) =>
    names.split(/\s+/).map((name) => [name, what as CallSubject] as const),
  ),
);

/** Whether the rule keeps out a token that names another package, or one that names channels alone. */
const keepsOut = ({ name, method }: Operation): { otherPackage: boolean; channels: boolean } => {
  const what = about.get(name) ?? 'public';
  const guarded = what === 'package' || what === 'collaborators' || what === 'store';
  return {
    otherPackage: guarded,
    // To withdraw a revision closes it in whichever channels hold it.
    channels:
      what === 'collaborators' ||
      what === 'store' ||
      (what === 'package' &&
        (method === 'DELETE' || ['withdraw_revision', 'delete_revisions', 'update_track'].includes(name))),
  };
};

/** 401 is a login that has ended for whoever speaks as the dashboard's clients do: they get 403. */
const isKeptOut = ({ status, body }: Reply, { errors }: Operation): boolean =>
  status === (errors === 'dashboard' ? 403 : 401) &&
  /This token is good for the (?:channels|packages)|Package access not allowed/.test(JSON.stringify(body));

/** Asks in a way that changes nothing when it is admitted: a member too many, which is looked at after admission. */
async function ask(client: Client, op: Operation, subject: Record<string, string>): Promise<Reply> {
  const path = pathOf(op, subject);
  if (op.method === 'GET') return client.get(path);
  if (op.method === 'DELETE') return client.delete(path);
  const valid = bodyOf(op);
  if (Array.isArray(valid) && valid.length > 0) Object.assign(valid[0] as object, { unexpected: 1 });
  const body = Array.isArray(valid) ? valid : { ...(valid as object), unexpected: 1 };
  return op.method === 'PATCH' ? client.patch(path, body) : client.post(path, body);
}

/** With no body to spoil these would do what they are asked for, so only those who are kept out ask. */
const changes = (op: Operation): boolean => op.method !== 'GET' && op.body === undefined;

async function prepared(t: Parameters<typeof startStore>[0]): Promise<[TestAppliance, Record<string, string>]> {
  const store = await startStore(t, (text) =>
    text.replaceAll(/^(?:# ?)?(build_records|package_permissions) = .*$/gm, '$1 = true'),
  );
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'ada' }, (tx) =>
    tx.accounts.makeStoreAdministrator(store.ids.ada, at),
  );
  const ada = await store.as('ada');
  for (const namespace of ['bin', 'charm']) await ada.post(`/v1/${namespace}`, { name: 'hello' });
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const brand = await addBrand(store, 'ada');
  return [store, { namespace: 'bin', name: 'hello', charm_name: 'hello', snap_id: id, brand_account_id: brand }];
}

t.test('every operation says what it is about', (t) => {
  for (const op of operations) t.equal(op.access.about, about.get(op.name), op.name);
  t.equal(about.size, operations.length, 'and the table names no other');
  for (const op of identityOperations) t.equal(op.access.about, 'public', op.name);
  t.end();
});

t.test('a narrowed token goes as far as the rule lets it, in every operation', async (t) => {
  const [store, subject] = await prepared(t);
  const as = (attenuated: Attenuated): Promise<Client> => store.as('ada', attenuated);
  const other = {
    packages: [
      { type: 'bin' as const, name: 'other' },
      { type: 'charm' as const, name: 'other' },
      { type: 'snap' as const, name: 'other' },
    ],
  };
  const own = {
    packages: [
      { type: 'bin' as const, name: 'hello' },
      { type: 'charm' as const, name: 'hello' },
      { type: 'snap' as const, name: 'hello' },
    ],
  };
  const channels = { channels: ['edge'] };
  const whole = await as({});
  const tokens = {
    otherPackage: await as(other),
    noPackage: await as({ packages: [] }),
    ownPackage: await as(own),
    channels: await as(channels),
    ownPackageAndChannels: await as({ ...own, ...channels }),
  };
  let kept = 0;
  for (const op of operations) {
    const rule = keepsOut(op);
    const expected: Record<keyof typeof tokens, boolean> = {
      otherPackage: rule.otherPackage,
      noPackage: rule.otherPackage,
      ownPackage: about.get(op.name) === 'store',
      channels: rule.channels,
      // A caveat more never opens what one less had closed.
      ownPackageAndChannels: rule.channels,
    };
    for (const [which, client] of Object.entries(tokens) as [keyof typeof tokens, Client][]) {
      if (changes(op) && !expected[which]) continue;
      const reply = await ask(client, op, subject);
      t.equal(
        isKeptOut(reply, op),
        expected[which],
        `${op.name} with ${which}: ${reply.status} ${JSON.stringify(reply.body)}`,
      );
      if (expected[which]) kept++;
    }
    if (!changes(op)) t.notOk(isKeptOut(await ask(whole, op, subject), op), `${op.name} with the whole token`);
  }
  t.ok(kept > 150, `${kept} calls were kept out`);
  t.equal((await whole.get('/v1/bin/hello')).status, 200, 'nothing was unregistered');
});

t.test('a token for one snap makes no key, and a token for one channel unregisters nothing', async (t) => {
  const [store, { brand_account_id: brand = '' }] = await prepared(t);
  const refused = { status: 401, body: { 'error-list': [{ code: 'permission-required' }] } };
  const snap = await store.as('ada', { packages: [{ type: 'snap', name: 'zzz' }] });
  t.match(await snap.post(`/v1/brand/${brand}/signing_key`, { name: 'stolen' }), refused);
  t.match(await snap.patch(`/v1/brand/${brand}`, { name: 'Stolen' }), refused);
  t.match(await snap.get(`/v1/brand/${brand}`), refused);
  const edge = await store.as('ada', { channels: ['edge'] });
  t.match(await edge.post(`/v1/brand/${brand}/signing_key`, { name: 'stolen' }), refused);
  t.match(await edge.delete('/v1/bin/hello'), refused);
  t.match(await edge.get('/v1/bin/hello'), { status: 200 }, 'it reads');
  t.match(await edge.post('/v1/bin', { name: 'hallo' }), { status: 200 }, 'it registers');
  const ada = await store.as('ada');
  t.match((await ada.get(`/v1/brand/${brand}`)).body, { name: /^(?!Stolen)/ });
});

t.test('an invite is answered by a token that names the package, and by no other that names packages', async (t) => {
  const [store] = await prepared(t);
  const ada = await store.as('ada');
  const invite = async (): Promise<string> => {
    const reply = await ada.post('/v1/bin/hello/collaborators/invites', { invites: [{ email: 'bob@example.com' }] });
    t.equal(reply.status, 201, JSON.stringify(reply.body));
    return reply.body.tokens[0].token as string;
  };
  const token = await invite();
  const accept = '/v1/bin/hello/collaborators/invites/accept';
  const other = await store.as('bob', { packages: [{ type: 'bin', name: 'other' }] });
  t.match(await other.post(accept, { token }), { status: 401 });
  t.match(await other.post('/v1/bin/nowhere/collaborators/invites/accept', { token }), { status: 401 });
  t.match(await (await store.as('bob', { channels: ['edge'] })).post(accept, { token }), { status: 401 });
  const named = await store.as('bob', { packages: [{ type: 'bin', name: 'hello' }] });
  t.match(await named.post(accept, { token }), { status: 204 });
});
