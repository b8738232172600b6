// Follows the rotation of a source's keys: the form on the page of the source, and its handler.
import { followRotation } from '#transfers/follow-rotation.ts';
import { gateErrorCodes } from '#acts/gate.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import type { Chunks } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import { parseRotation } from '#transfers/site.ts';
import { declareMessages } from '../messages.ts';
import { fileForm } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { fileHandler } from '../screen.ts';
import { sourceAddress } from './address.ts';

const withMessage = declareMessages({
  'source-rotated': 'The new keys are trusted. Transfers signed with the old keys are refused.',
});

/** The maximum size of a rotation with the keys and signatures of 16 administrators, in bytes. */
const maxRotationBytes = 64 * 1024;

export const rotationForm = (browsing: Browsing, source: string): Html =>
  html`<h2>Follow a change of its keys</h2>
    ${fileForm(browsing, `${sourceAddress(source)}/rotation`, {
      label: 'File of the rotation',
      accept: '.json',
      hint: html`<code>larder site rotate</code> wrote it at ${source}. The trusted keys have signed it, so there is no
        fingerprint to compare. Transfers signed with the old keys are refused from then on.`,
      button: 'Trust the new keys',
    })}
    ${hostCommand('larder site trust FILE')}`;

export const consoleRotateSource = fileHandler({
  name: 'console_rotate_source',
  path: '/console/sites/:source/rotation',
  summary: 'Trust the new keys in the file of a rotation of a source, which enough of its old keys have signed.',
  access: storeAdministrator('store-manage'),
  refuses: ['conflict', ...gateErrorCodes],

  limit: () => maxRotationBytes,
  receive: (_call, content) => readText(content),
  async perform(call, text) {
    const { source } = call.params;
    const signed = parseRotation(text);
    if (signed === undefined)
      throw new Refusal('api-error', "This is not a file of 'larder site rotate'. Choose the file that it wrote.");
    if (signed.rotation.site !== source)
      throw new Refusal(
        'api-error',
        `The file is a rotation of '${signed.rotation.site}'. Upload it on the page of that source.`,
      );
    await followRotation(call, caller(call), signed);
    return withMessage(sourceAddress(source), 'source-rotated');
  },
});

async function readText(content: AsyncIterable<Chunks>): Promise<string> {
  const bytes: Buffer[] = [];
  let size = 0;
  for await (const chunks of content) {
    // The chunks may be reused after each step.
    for (const chunk of chunks) bytes.push(Buffer.from(chunk));
    size += chunks.reduce((sum, { length }) => sum + length, 0);
    if (size > maxRotationBytes)
      throw new Refusal('request-too-large', 'The file is larger than a rotation. Choose another file.');
  }
  return Buffer.concat(bytes).toString('utf8');
}
