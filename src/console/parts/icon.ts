// Icons of the console, and the pictures of packages and accounts.
import { html, type Html } from '#http/pages/html.ts';
import { addressOfAsset } from '../asset-files.ts';
import type { IconName } from '../icons.ts';

/** An icon beside words that say the same. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" aria-hidden="true"><use href="${addressOfAsset('icons.svg')}#${name}"></use></svg>`;

interface PicturedPackage {
  id: string;
  name: string;
  /** Its digest and file ending. */
  icon: string | null;
}

/** The icon of a package; a tile with its first letter if it has none. */
export const packageIcon = ({ id, name, icon: file }: PicturedPackage): Html =>
  file === null
    ? letterTile(name)
    : html`<img class="picture" src="/icons/${encodeURIComponent(id)}/${file}" alt="" loading="lazy" />`;

/** The number of colours of letter tiles in the style sheet. */
const tileColours = 4;

/** The first letter of a name; the same name always has the same colour. */
export function letterTile(name: string): Html {
  const [first = ''] = name;
  const sum = Array.from(name).reduce((total, letter) => total + letter.charCodeAt(0), 0);
  return html`<span class="picture letter-tile colour-${sum % tileColours}" aria-hidden="true"
    >${first.toUpperCase()}</span
  >`;
}
