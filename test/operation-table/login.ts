// Rows of the operations about login.
import type { OperationRows } from './row.ts';

export const loginRows: OperationRows = {
  discharge_sso_token: { about: 'public', callers: 'anyone', writes: 'writes nothing but failed attempts, which pass' },
  refresh_sso_token: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
  dashboard_acl: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
  discharge_info: { about: 'public', callers: 'anyone', reads: () => [{ path: '/identity/discharge/info' }] },
  public_key: { about: 'public', callers: 'anyone', reads: () => [{ path: '/identity/publickey' }] },
  discharge: { about: 'public', callers: 'anyone' },
  login: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: `/identity/login?did=${'0'.repeat(64)}ID`, status: 410 }],
  },
  submit_login: { about: 'public', callers: 'anyone' },
  wait_token: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: `/identity/wait-token?did=${'0'.repeat(64)}ID`, status: 410 }],
  },
  agent_login: {
    about: 'public',
    callers: 'anyone',
    reads: () => [
      {
        path: `/identity/login/agent?did=${'0'.repeat(64)}ID&username=nobody&public-key=${'A'.repeat(43)}=`,
        status: 410,
      },
    ],
  },
  form: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: `/identity/form?did=${'0'.repeat(64)}ID`, status: 410 }],
  },
  submit_form: { about: 'public', callers: 'anyone' },
  login_redirect: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/identity/login-redirect?return_to=http://nowhere/', status: 400 }],
  },
  begin_openid_login: { about: 'public', callers: 'anyone' },
  finish_openid_login: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/identity/openid/callback', status: 410 }],
  },
  end_openid_login: { about: 'public', callers: 'anyone' },
  begin_certificate_login: { about: 'public', callers: 'anyone' },
  finish_certificate_login: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/identity/certificates/login', status: 404 }],
  },
  discharge_token: { about: 'public', callers: 'anyone' },
  login_legacy: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: `/identity/login-legacy?did=${'0'.repeat(64)}ID`, status: 410 }],
  },
  agent_login_legacy: { about: 'public', callers: 'anyone' },
  wait_legacy: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: `/identity/wait-legacy?did=${'0'.repeat(64)}ID`, status: 410 }],
  },
  set_up: { about: 'public', callers: 'anyone', reads: () => [{ path: '/identity/set-up?key=0', status: 410 }] },
  open_set_up_link: { about: 'public', callers: 'anyone', reads: () => [{ path: '/identity/set-up/0', status: 410 }] },
  submit_set_up: { about: 'public', callers: 'anyone' },
  invite: { about: 'public', callers: 'anyone', reads: () => [{ path: '/identity/invite', status: 410 }] },
  submit_invite: { about: 'public', callers: 'anyone' },
  identity_style: { about: 'public', callers: 'anyone', reads: () => [{ path: '/identity/style.css' }] },
};
