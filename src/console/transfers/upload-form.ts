// The form that uploads a file of a transfer. Without script it sends the file as a whole; the script of the console sends pieces.
import { html, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { formatCount, size } from '../parts/values.ts';

const uploads = '/console/carry/uploads';

/** The addresses of the form and of the script. */
export const uploadAddresses = {
  whole: uploads,
  begin: `${uploads}/begin`,
  piece: `${uploads}/piece`,
  receive: `${uploads}/receive`,
} as const;

/** The form, with the token of each address that the script calls. */
export function uploadForm(browsing: Browsing, { uploads: limits }: Services['config']): Html {
  const { whole, begin, piece, receive } = uploadAddresses;
  return html`<form
    method="post"
    action="${whole}"
    enctype="multipart/form-data"
    hx-boost="false"
    data-begin="${begin}"
    data-begin-token="${browsing.formToken(begin)}"
    data-piece="${piece}"
    data-piece-token="${browsing.formToken(piece)}"
    data-receive="${receive}"
    data-receive-token="${browsing.formToken(receive)}"
  >
    <input type="hidden" name="form-token" value="${browsing.formToken(whole)}" />
    <div class="field">
      <label for="file">Transfer file</label>
      <input id="file" name="file" type="file" accept=".tar" required aria-describedby="file-hint" />
      <p class="hint" id="file-hint">
        A file that <code>larder transfer make</code> has written, of at most ${size(limits.max_size)}; of a transfer in
        parts, one part after the other. The transfer is verified and reviewed, and waits for your decision. An
        interrupted upload resumes if you choose the same file again within
        ${formatCount(limits.unclaimed_hours, 'hour')}.
      </p>
    </div>
    <button>Upload</button>
    <progress max="1" value="0" aria-label="Progress of the upload" hidden></progress>
    <output hidden></output>
  </form>`;
}
