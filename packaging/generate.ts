// Writes the generated files, which git ignores: the types of the wire, and the guides as HTML. Files that are up to
// date stay untouched.
import { join } from 'node:path';

import { writeWireTypes } from './generate-wire.ts';
import { writeGuides } from './render-guides.ts';

const root = join(import.meta.dirname, '..');
await writeWireTypes(join(root, 'schemas'), join(root, 'src/contract/wire.ts'));
writeGuides(join(root, 'docs/guides'), join(root, 'src/documents/guides'));
