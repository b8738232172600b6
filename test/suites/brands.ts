// Operations on brands, what they sign, and what others approve of.
import { together } from '#test/fixtures/together.ts';

await together(
  'operations/brands/*.test.ts',
  'operations/models/*.test.ts',
  'operations/signing-keys/*.test.ts',
  'operations/assertions/*.test.ts',
  'operations/device-service/*.test.ts',
  'operations/serial-policies/*.test.ts',
  'operations/remodel-allowlist/*.test.ts',
  'operations/approvals/*.test.ts',
);
