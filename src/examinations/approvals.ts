// Examines whether the approval policy of the configuration is in force.
import { isDeepStrictEqual } from 'node:util';

import { readPolicy } from '#domain/approvals/approval-policy.ts';
import { notice, well, type Examination } from './examination.ts';

export const approvals: Examination = {
  subject: 'Approvals',
  async look({ config, store, serving }) {
    const configured = readPolicy(config().approvals);
    const inForce = await (await store()).records.approvalPolicy.inForce();
    if (isDeepStrictEqual(configured, inForce)) return well('the approval policy of larder.toml is in force');
    // If a process is serving, it adds the reason.
    return (await serving()) === undefined
      ? notice(
          'the approval policy of larder.toml is not in force before the next start',
          "'larder approval policy' shows the policy in force.",
        )
      : notice(
          'the approval policy of larder.toml differs from the policy in force',
          "'larder approval policy' shows both.",
        );
  },
};
