// What `reads` asks: each GET of the interface, and some in several ways.
import type { World } from './measured.ts';

export interface Question {
  operation: string;
  /** What sets it apart from other questions of the operation. */
  about?: string;
  path: string;
  headers?: Record<string, string>;
  /** 200 unless said otherwise. */
  status?: number;
}

/** What a client of the image registry holds: its token, and an upload that it has begun. */
export interface Visit {
  token: string;
  upload: string;
}

export function questions(world: World, visit: Visit): Question[] {
  return [
    // Their token and their credentials end soon.
    ...ofImages(world, visit),
    ...ofAnyone(world),
    ...ofPublishers(world),
    ...ofBrands(world),
    ...ofOlderTools(world),
    ...ofAdministrators(world),
    ...ofLogins(),
  ];
}

const withToken = (token: string): Record<string, string> => ({ authorization: `Macaroon ${token}` });

type Rows = Record<string, string | [path: string, status: number]>;

/** `operation` or `operation, about`: its path, and its status where that is not 200. */
const asked = (rows: Rows, headers: Record<string, string> = {}): Question[] =>
  Object.entries(rows).map(([name, row]) => {
    const [operation = '', about] = name.split(', ');
    const [path, status = 200] = typeof row === 'string' ? [row] : row;
    return { operation, ...(about !== undefined && { about }), path, status, headers };
  });

const ofAnyone = (world: World): Question[] => [
  ...ofStrangers(world),
  // As devices ask for it; it is as long as there are names.
  ...asked({ snap_names: '/api/v1/snaps/names?confinement=strict' }, { 'accept-encoding': 'gzip' }),
];

const ofStrangers = ({ ids, icon }: World): Question[] =>
  asked({
    root: '/',
    package_icon: `/icons/${ids.snap}/${icon}`,
    snap_info: '/v2/snaps/info/tiny-app',
    find_snaps: '/v2/snaps/find?q=tiny&channel=stable&architecture=amd64',
    snap_categories: '/v2/snaps/categories',
    snap_sections: '/api/v1/snaps/sections',
    download_snap: `/api/v1/snaps/download/${ids.snap}_1.snap`,
    find_charms: '/v2/charms/find?q=pages',
    'find_charms, all': '/v2/charms/find?q=',
    charm_info: '/v2/charms/info/pages',
    charm_resource_revisions: '/v2/charms/resources/pages/site/revisions',
    download_charm: `/api/v1/charms/download/${ids.pages}_1.charm`,
    download_charm_resource: `/api/v1/resources/download/charm_${ids.pages}.site_1`,
    read_library: `/v1/charm/libraries/juggler/${ids.library}`,
    ca_certificate: ['/ca.pem', 404],
    read_assertion: ['/v2/assertions/account/nobody', 404],
    read_assertion_of_two_values: ['/v2/assertions/snap-declaration/16/nobody', 404],
    read_assertion_of_three_values: ['/v2/assertions/model/16/nobody/none', 404],
    read_assertion_of_four_values: ['/v2/assertions/validation-set/16/nobody/none/1', 404],
    read_assertion_of_five_values: ['/v2/assertions/snap-resource-pair/nobody/none/1/1/none', 404],
    store_assertions: ['/v2/auth/store/assertions', 404],
    metrics: '/metrics',
    openapi_document: '/openapi.json',
    documents_home: '/docs/',
    documents_door: '/docs',
    documents_page: '/docs/operations-names',
    search_documents: '/docs/search?q=release',
    favicon: '/favicon.ico',
    healthz: '/healthz',
    readyz: '/readyz',
    status_check: '/_status/check',
  });

function ofPublishers({ tokens, ids }: World): Question[] {
  const snap = '/v1/snap/tiny-app';
  return [
    ...asked(
      {
        get_macaroon: '/v1/tokens',
        macaroon_info: '/v1/tokens/whoami',
        list_registered_names: '/v1/snap',
        'list_registered_names, id and name': '/v1/snap?fields=id,name',
        'list_registered_names, collaborations': '/v1/snap?include-collaborations=true',
        'list_revisions, hundred': '/v1/snap/measured-0/revisions',
        'list_releases, 20 tracks': '/v1/snap/measured-0/releases',
        list_package_offers: '/internal/v1/package-offers',
        list_own_invites: '/internal/v1/invites',
      },
      withToken(tokens.bob),
    ),
    ...asked(
      {
        package_metadata: snap,
        list_revisions: `${snap}/revisions`,
        list_upload_reviews: `${snap}/revisions/review`,
        'list_upload_reviews, one': `${snap}/revisions/review?upload-id=${ids.upload}`,
        list_kept_revisions: '/internal/v1/packages/snap/tiny-app/revisions',
        list_releases: `${snap}/releases`,
        get_all_invites: `${snap}/collaborators/invites`,
        get_pending_invites: `${snap}/collaborators/invites/pending`,
        get_collaborators: `${snap}/collaborators`,
        list_resources: '/v1/charm/juggler/resources',
        list_resource_revisions: '/v1/charm/juggler/resources/image/revisions',
        buildset_status: '/v1/craft/buildsets?package=source/well',
        filter_commit_workflows: '/v1/craft/commit-workflows?package=source/well',
      },
      withToken(tokens.ada),
    ),
  ];
}

function ofBrands({ tokens, ids }: World): Question[] {
  const brand = `/v1/brand/${ids.ada}`;
  return asked(
    {
      read_brand: brand,
      read_models: `${brand}/model`,
      read_signing_keys: `${brand}/signing_key`,
      list_remodel_allowlist: `${brand}/remodel-allowlist`,
      read_serial_policies: `${brand}/model/pump/serial_policy`,
      list_serial_log: `${brand}/model/pump/serial-log`,
      list_serial_log_of_serial: `${brand}/model/pump/serial/0001/serial-log`,
    },
    withToken(tokens.ada),
  );
}

function ofOlderTools({ tokens, ids }: World): Question[] {
  const snap = `/dev/api/snaps/${ids.snap}`;
  return [
    ...asked({ 'dashboard_account, 1000 names': '/dev/api/account' }, withToken(tokens.bob)),
    ...asked(
      {
        dashboard_whoami: '/api/v2/tokens/whoami',
        dashboard_account: '/dev/api/account',
        dashboard_upload_status: `${snap}/uploads/${ids.upload}/status`,
        dashboard_state: `${snap}/state?series=16`,
        dashboard_channel_map: '/api/v2/snaps/tiny-app/channel-map',
        dashboard_releases: '/api/v2/snaps/tiny-app/releases',
        dashboard_read_binary_metadata: `${snap}/binary-metadata`,
        dashboard_list_validation_sets: '/api/v2/validation-sets',
        dashboard_read_validation_set: '/api/v2/validation-sets/base-set',
      },
      withToken(tokens.ada),
    ),
  ];
}

function ofImages({ tokens, ids, login, image }: World, { token, upload }: Visit): Question[] {
  const at = `/v2/images/${ids.charm}/image`;
  const basic = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  return [
    ...asked(
      {
        oci_image_resource_upload_credentials: '/v1/charm/juggler/resources/image/oci-image/upload-credentials',
      },
      withToken(tokens.ada),
    ),
    ...asked(
      { registry_token: `/registry/token?service=larder&scope=repository:images/${ids.charm}/image:pull` },
      { authorization: basic },
    ),
    ...asked(
      {
        registry_version: '/v2/',
        blob_upload_state: [`${at}/blobs/uploads/${upload}`, 204],
        image_blob: `${at}/blobs/${image.blob}`,
        image_manifest: `${at}/manifests/latest`,
        list_image_tags: `${at}/tags/list`,
        list_image_referrers: `${at}/referrers/${image.manifest}`,
      },
      { authorization: `Bearer ${token}` },
    ),
  ];
}

const ofAdministrators = ({ tokens, ids }: World): Question[] =>
  asked(
    {
      account_holdings: `/internal/v1/accounts/${ids.bob}/holdings`,
      read_quota: `/internal/v1/accounts/${ids.bob}/quota`,
      list_tokens: '/internal/v1/tokens',
      'list_tokens, of one': `/internal/v1/tokens?account=${ids.bob}`,
      'list_tokens, ending': '/internal/v1/tokens?ending-before=2101-01-01T00:00:00Z',
      list_packages: '/internal/v1/packages',
      'list_packages, of a publisher': `/internal/v1/packages?publisher=${ids.bob}`,
      'list_packages, holding a channel': '/internal/v1/packages?channel=18.0/edge',
      'list_packages, large ones': '/internal/v1/packages?at-least=1000000000',
      'list_packages, quiet ones': '/internal/v1/packages?quiet-since=2020-01-01T00:00:00Z',
      read_package: '/internal/v1/packages/snap/tiny-app',
      list_guardrails: '/internal/v1/packages/snap/tiny-app/guardrails',
      list_device_grants: '/internal/v1/packages/snap/tiny-app/device-grants',
      list_seen_devices: '/internal/v1/devices',
      read_seen_device: ['/internal/v1/devices/nobody/none/1', 404],
      read_device_days: '/internal/v1/devices/days',
      read_package_usage: '/internal/v1/packages/snap/tiny-app/usage?days=90',
      list_accounts: '/internal/v1/accounts',
      list_brands: '/internal/v1/brands',
      list_waiting_uploads: '/internal/v1/uploads',
      storage_use: '/internal/v1/storage',
      list_exports: '/internal/v1/exports',
      'list_exports, of a time': '/internal/v1/exports?from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z',
      list_transfers: '/internal/v1/transfers',
      read_transfer: [`/internal/v1/transfers/${'0'.repeat(64)}`, 404],
      list_proposals: '/internal/v1/proposals',
      read_proposal: '/internal/v1/proposals/1',
      read_proposal_text: ['/internal/v1/proposals/1/text', 409],
      list_audit: '/internal/v1/audit',
      'list_audit, filtered': '/internal/v1/audit?actor=nobody',
      read_changes: '/internal/v1/changes?since=1',
      explain_access: '/internal/v1/explain-access?account=bob&package=snap/tiny-app',
      list_pull_credentials: '/internal/v1/pull-credentials',
    },
    withToken(tokens.root),
  );

/** Of a login that nobody has begun: what a stranger costs. */
const ofLogins = (): Question[] => {
  const did = `did=${'0'.repeat(64)}ID`;
  return asked({
    discharge_info: '/identity/discharge/info',
    public_key: '/identity/publickey',
    login: [`/identity/login?${did}`, 410],
    wait_token: [`/identity/wait-token?${did}`, 410],
    agent_login: [`/identity/login/agent?${did}&username=nobody&public-key=${'A'.repeat(43)}=`, 410],
    form: [`/identity/form?${did}`, 410],
    login_redirect: ['/identity/login-redirect?return_to=http://nowhere/', 400],
    login_legacy: [`/identity/login-legacy?${did}`, 410],
    wait_legacy: [`/identity/wait-legacy?${did}`, 410],
    set_up: ['/identity/set-up?key=0', 410],
    open_set_up_link: ['/identity/set-up/0', 410],
    invite: ['/identity/invite', 410],
    identity_style: '/identity/style.css',
  });
};
