// The words of the audit log: the names of the acts, `verb_object`, and the words that earlier releases wrote. A written row
// keeps its word, because the chain of hashes covers it. See docs/decisions/0018-one-grammar-for-audit-words.md.

/** The former words of an act, by its name. A former word stays here for good and never names another act. */
const formerWords: Readonly<Record<string, readonly string[]>> = {
  accept_audit_log: ['audit accept'],
  accept_bucket: ['bucket accept'],
  accept_clock: ['clock accept'],
  add_guardrail: ['guardrail add'],
  approve_upload: ['review approve'],
  change_role: ['account role'],
  change_setting: ['config set'],
  create_account: ['account create'],
  create_brand: ['brand create'],
  create_signing_key: ['key create'],
  create_store: ['init'],
  delete_signing_key: ['key delete'],
  disable_account: ['account disable'],
  enable_account: ['account enable'],
  exchange_admin_credential: ['offline_exchange_macaroon'],
  exchange_macaroons: ['exchange_dashboard_macaroons', 'exchange_usso_macaroons'],
  export_audit_log: ['audit export'],
  export_receipt: ['let_out_receipt'],
  hold_follow_up: ['hold_after_review'],
  import_assertions: ['assertion import'],
  invite_account: ['account invite'],
  issue_admin_credential: ['admin-macaroon'],
  issue_pull_credential: ['oci_image_resource_blob'],
  issue_push_credential: ['oci_image_resource_upload_credentials'],
  issue_serial: ['device_serial'],
  issue_token: ['token issue'],
  make_backup: ['backup'],
  move_store: ['move'],
  propose_change: ['propose'],
  read_signing_key_account_key_request: ['key request'],
  record_copied_key: ['note_copied_key'],
  record_failed_backup: ['backup-failed'],
  record_latest_time: ['remember_time'],
  record_lost_transfer: ['lose_transfer'],
  record_receipts: ['note_receipts'],
  record_site_key: ['remember_site_key'],
  refuse_follow_up: ['refuse_after_review'],
  register_agent: ['agent register'],
  register_name: ['dashboard_register_name', 'package register'],
  reject_upload: ['review reject'],
  remove_agent: ['agent remove'],
  remove_guardrail: ['guardrail remove'],
  repair_blob: ['mend_blob'],
  restore_blob: ['put_back_blob'],
  restore_missing_blobs: ['restore_missing'],
  restore_store: ['restore'],
  revoke_token: ['token revoke'],
  rewrite_transfer_part: ['make_transfer_again'],
  roll_back_upgrade: ['go-back'],
  seal_master_key: ['key seal'],
  set_account_password: ['account password'],
  set_account_totp: ['account totp'],
  set_log_level: ['log-level'],
  set_manual_review: ['package manual-review'],
  set_package_id: ['package set-id'],
  sign_assertion: ['assertion sign'],
  skip_revision_signature: ['needs_no_assertion'],
  store_key_request: ['dashboard_account_key'],
  sweep_image_blobs: ['forget_image_blobs'],
  sweep_images: ['forget_images'],
  sweep_invites: ['forget_invites'],
  sweep_proposals: ['forget_proposals'],
  sweep_pull_credentials: ['forget_pull_credentials'],
  sweep_sessions: ['forget_sessions'],
  upgrade_store: ['upgrade'],
  use_push_credential: ['registry_token'],
  verify_records: ['prove_records'],
};

/** Words of release 0.1.0 that no single act has succeeded. */
export const retiredWords: readonly string[] = ['forget_uploads', 'key rotate', 'seal_audit', 'upload_blob'];

const actNames = new Map(Object.entries(formerWords).flatMap(([name, words]) => words.map((word) => [word, name])));

/** The name of the act that a word of the log stands for; a word that is not a former one stands for itself. */
export const toActName = (word: string): string => actNames.get(word) ?? word;

/** All words of an act: its name, then the former ones. */
export const wordsOfAct = (name: string): readonly string[] =>
  Object.hasOwn(formerWords, name) ? [name, ...formerWords[name]!] : [name];
