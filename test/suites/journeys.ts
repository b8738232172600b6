// What people do from beginning to end; what is killed, starts programs or fills the disk has a process of its own.
import { together } from '#test/fixtures/together.ts';

await together(
  'journeys/@(across-the-gap|carry-in|dashboard|every-type|external-registry|open-a-track|promote-a-charm|publish-*|snapcraft-on-site|watch-a-build|work-together).test.ts',
);
