// All pages of the console. A generated list names them.
import type { OperationSection } from '#http/operation.ts';
import { isCheckout } from '#platform/embedded.ts';
import { declared } from './declared.ts';

export const consoleSection: OperationSection = {
  title: 'Console',
  about: 'Pages for people. Each runs the same acts as the matching operation or command.',
  operations: Object.values(declared)
    .flat(2)
    .filter(({ name }) => name !== 'console_styles' || isCheckout()),
};

export const consoleOperations = consoleSection.operations;
