// The release, as package.json states it.
import { embeddedText } from './embedded.ts';

export const version = (JSON.parse(embeddedText('package.json')) as { version: string }).version;
