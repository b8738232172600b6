// Writes the generated files, which git ignores: the types of the wire, the validator of the configuration, the lists of acts
// and of pages of the console, and the guides as HTML. Files that are up to date stay untouched.
import { join } from 'node:path';

import { writeConfigValidator } from './generate-config-validator.ts';
import { writeLists } from './generate-lists.ts';
import { writeWireTypes } from './generate-wire.ts';
import { writeGuides } from './render-guides.ts';

const root = join(import.meta.dirname, '..');
await writeWireTypes(join(root, 'schemas'), join(root, 'src/contract/wire.ts'));
writeConfigValidator(join(root, 'schemas/config.json'), join(root, 'src/contract/config-validator.ts'));
writeLists(join(root, 'src'));
writeGuides(join(root, 'docs/guides'), join(root, 'src/documents/guides'));
