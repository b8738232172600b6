// larder approver-key add, larder approver-key list, larder approver-key remove
import { resolve } from 'node:path';

import { addApproverKey, removeApproverKey } from '#acts/approvals/approver-keys.ts';
import { Refusal } from '#domain/refusal.ts';
import { fingerprintOfSshKey, readSshKey } from '#domain/approvals/ssh-key.ts';
import type { ApproverKey } from '#records/approvals/approver-keys.ts';
import { readTextFile } from '../assertions/read-file.ts';
import { command, Failure } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

const accountArgument = { name: 'id', summary: 'The id of the account.' } as const;

export const approverKeyAdd = command({
  name: 'approver-key add',
  summary: 'Register the key that an approver signs approvals with.',
  description:
    "FILE is the public key, as 'ssh-keygen -t ed25519' writes it. The private key stays with its owner. " +
    'Ed25519 (also on a security key that must be touched), ECDSA, and RSA of 2048 bits or more are accepted. Approvals ' +
    'of the account do not count for three days after this. If a policy is in force, the key itself needs as ' +
    'many approvals as the policy asks for at most.',
  positionals: [accountArgument, { name: 'file', summary: 'The public key.' }],
  examples: ['larder approver-key add xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI ./bob.pub'],

  run: ({ positionals: { id, file }, data, world }) =>
    withStore(
      { data, world },
      async ({ records, acts, person, asCaller }) => {
        const { username } = await findAccount(records, id);
        const key = readSshKey(await asCaller(() => readTextFile(resolve(file))));
        if (key === undefined) {
          throw new Failure(
            `${file} is not a public key that larder accepts; 'ssh-keygen -t ed25519' makes one, in the file that ends in .pub`,
          );
        }
        await acts.do(addApproverKey, person, { id, key: key.line });
        return {
          text:
            `${key.fingerprint} signs approvals of ${id} (${username}). Compare it with ` +
            "the output of 'ssh-keygen -l -f FILE' on the machine that has the key.",
          json: { id, fingerprint: key.fingerprint, key: key.line },
        };
      },
      { writesOutside: true },
    ),
});

export const approverKeyList = command({
  name: 'approver-key list',
  summary: 'List the keys that an approver signs approvals with.',
  positionals: [accountArgument],
  examples: ['larder approver-key list xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      await findAccount(records, id);
      const keys = (await records.approverKeys.of(id)).map(presentKey);
      const rows = keys.map(({ fingerprint, key, ...details }) => [
        fingerprint,
        kindOf(key),
        details['added-at'],
        details['added-by'],
      ]);
      return {
        text: rows.length === 0 ? 'There is none.' : table(['FINGERPRINT', 'KIND', 'SINCE', 'BY'], rows),
        json: { id, keys },
      };
    }),
});

export const approverKeyRemove = command({
  name: 'approver-key remove',
  summary: 'Remove a key of an approver.',
  description:
    'Its signatures on proposals that are still open no longer count. Receipts that name it stay. Approvals of ' +
    'the account do not count for three days after this.',
  positionals: [
    accountArgument,
    { name: 'fingerprint', summary: 'The fingerprint of the key, which begins with SHA256.' },
  ],
  examples: [
    'larder approver-key remove xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI SHA256:6q4PGVhYjJvNqz8CyoQmGpNLXeXJrnFx2Wv7bTBs4hU --yes',
  ],
  confirm: {
    question: ({ positionals: { id, fingerprint } }) => `${fingerprint} signs for the account ${id} no more.`,
    unattended: 'refused',
  },

  run: ({ positionals: { id, fingerprint }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const { username } = await findAccount(records, id);
      const approverKey = (await records.approverKeys.of(id)).find(
        ({ key }) => fingerprintOfSshKey(key) === fingerprint,
      );
      if (approverKey === undefined) {
        throw new Refusal(
          'resource-not-found',
          `The account ${id} (${username}) has no key ${fingerprint}; 'larder approver-key list ${id}' shows them.`,
        );
      }
      await acts.do(removeApproverKey, person, { id, key: approverKey.key });
      return { text: `${fingerprint} signs for ${id} (${username}) no more.`, json: { id, fingerprint } };
    }),
});

const presentKey = ({ key, addedAt, addedBy }: ApproverKey) => ({
  fingerprint: fingerprintOfSshKey(key),
  key,
  'added-at': addedAt,
  'added-by': addedBy,
});

const kindOf = (key: string): string => key.split(' ')[0] ?? '';
