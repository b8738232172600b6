// Every page of the console.
import type { Section } from '#api/operation.ts';
import { consoleAsset } from './assets.ts';
import { consoleAudit } from './audit/audit.ts';
import { consoleFront } from './front/front.ts';
import { consoleLogIn, consoleLogOut, consoleSubmitLogIn } from './log-in.ts';
import { consolePackages } from './packages/list.ts';

export const consoleSection: Section = {
  title: 'Console',
  about: 'Pages for people; each does what operations and commands do, by the same acts.',
  operations: [
    consoleFront,
    consolePackages,
    consoleAudit,
    consoleLogIn,
    consoleSubmitLogIn,
    consoleLogOut,
    consoleAsset,
  ],
};

export const consoleOperations = consoleSection.operations;
