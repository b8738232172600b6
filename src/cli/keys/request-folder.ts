// Writes the folder to take to a machine with internet access: the key request in the online store's format, a script that
// registers the key and fetches the results, and a page with instructions.
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { syncFolder, createDurableFile } from '#files/durable-streams.ts';
import { embeddedText } from '#platform/embedded.ts';
import { Failure } from '../frame/command.ts';

export interface KeyRequestContent {
  /** The account-key-request assertion. */
  text: string;
  brand: string;
  name: string;
  keyId: string;
}

/**
 * Creates the folder durably, and removes it if it cannot be completed. Refuses an existing folder, so that no folder contains
 * old and new files together.
 */
export async function writeRequestFolder(folder: string, request: KeyRequestContent): Promise<void> {
  try {
    mkdirSync(folder, { mode: 0o755 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new Failure(`${folder} is there already; name a new folder`, { cause: error });
    }
    throw error;
  }
  try {
    await fill(folder, request);
    await syncFolder(folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function fill(folder: string, request: KeyRequestContent): Promise<void> {
  chmodSync(folder, 0o755);
  const put = async (name: string, text: string, mode: number): Promise<void> => {
    await createDurableFile(join(folder, name), text, mode);
    // Set the mode in spite of the umask: the person who takes the folder along must be able to read it.
    chmodSync(join(folder, name), mode);
  };
  await put(`${request.name}.account-key-request`, request.text, 0o644);
  await put('account-key.json', `${JSON.stringify({ account_key_request: request.text })}\n`, 0o644);
  await put('register.py', script(request), 0o755);
  await put('READ-ME-FIRST.txt', page(request), 0o644);
}

const page = ({ brand, name, keyId }: KeyRequestContent): string => `Registering a signing key with the online store
==============================================

This folder asks the online store to register the signing key '${name}' of the brand account
    ${brand}
The id of the key is
    ${keyId}
It holds the public half of the key and a signature. There is no secret in it.

What you need: a machine with internet and Python 3.6 or newer, and the e-mail address, the password and, if the
account has one, the one-time password of the Ubuntu One account that IS the brand account named above.
A collaborator's account will not do: a key is registered by its owner.

1. Copy this folder to that machine, and run there, in this folder:

       python3 register.py

   It logs in, sends account-key.json to https://dashboard.snapcraft.io, and then writes the file
   return.assert: the account-key of the key, the account, and the key of the store that signed them.
   The password is sent to https://login.ubuntu.com alone and is kept nowhere.
   To fetch return.assert again later, without registering: python3 register.py --fetch

2. Carry return.assert back, exactly as it is: an editor or an e-mail program may change it, and then it is refused.

3. On the store:

       larder assertion import return.assert
       larder key list --brand ${brand}

   The key is now 'registered'. If the import is refused, its sentence says why, and nothing was changed.

By hand, without the script: POST account-key.json (Content-Type: application/json) to
https://dashboard.snapcraft.io/dev/api/account/account-key with a login that may 'modify_account_key'; then
    snap known --remote account-key public-key-sha3-384=${keyId}
    snap known --remote account account-id=${brand}
and the account-key that the header sign-key-sha3-384 of these two names, all three in one file with an empty line
between them.
`;

/** The script with the brand and the key id filled in. Neither can contain a quote, so they need no escaping. */
const script = ({ brand, keyId }: KeyRequestContent): string =>
  embeddedText('src/cli/keys/register.py').replace('@BRAND@', brand).replace('@KEY_ID@', keyId);
