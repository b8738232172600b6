// The identity provider; passwords and other people's programs have processes of their own.
import '#test/fixtures/cheap-passwords.ts';
import { together } from '#test/fixtures/together.ts';

await together('identity/!(passwords|real-peers).test.ts');
