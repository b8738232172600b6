// larder package register
import { registerName } from '#acts/packages/registration.ts';
import { isPackageId } from '#domain/ids.ts';
import { defaultType, packageTypes } from '#domain/packages/namespace.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { command, UsageError } from '../frame/command.ts';
import { parsePackageName } from './package-argument.ts';
import { findAccount, withStore } from '../frame/store.ts';

export const packageRegister = command({
  name: 'package register',
  summary: 'Register a package name for an account, also a reserved name.',
  description:
    'If the snap is in the online store, give its snap id with --id. With any other id, its assertions would ' +
    'refer to a snap that the online store does not know.',
  positionals: [{ name: 'package', value: 'NAMESPACE/NAME', summary: 'The name, such as snap/hello.' }],
  options: {
    account: { type: 'string', value: 'ID', summary: 'The account that publishes it.', required: true },
    id: { type: 'string', value: 'ID', summary: 'The id of the package in the online store. Default: a new id.' },
    type: { type: 'string', value: 'TYPE', summary: 'The type, where a namespace has several, such as bundle.' },
    private: { type: 'boolean', summary: 'Hide the package from all but its publisher and collaborators.' },
  },
  examples: [
    'larder package register snap/hello --account xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --json',
    'larder package register snap/core22 --account canonical --id amcUKQILKXHHTlmSa7NMdnXSx02dNeeT',
  ],

  run({ positionals, options, data, world }) {
    const { namespace, name } = parsePackageName(positionals.package);
    const type = packageTypes(namespace).find((candidate) => candidate === (options.type ?? defaultType(namespace)));
    if (type === undefined) {
      throw new UsageError(`--type is one of ${packageTypes(namespace).join(', ')} here, not '${options.type!}'`);
    }
    if (options.id !== undefined && !isPackageId(options.id)) {
      throw new UsageError(`--id is a package id, 32 letters and digits, not '${options.id}'`);
    }

    return withStore({ data, world }, async ({ records, acts, actor, newId, config }) => {
      const { id: publisherId, username } = await findAccount(records, options.account);
      const registration = {
        namespace,
        name,
        type,
        publisherId,
        private: options.private,
        freshId: newId.id(),
        reserved: [],
        defaultQuota: readDefaultQuota(config.quotas),
      };
      const chosenId = options.id === undefined ? {} : { id: options.id };
      const { id } = await acts.do(registerName, { actor }, { ...registration, ...chosenId });
      return {
        text: `The name ${namespace}/${name} is registered for ${publisherId} (${username}); its id is ${id}.`,
        json: { id, namespace, name },
      };
    });
  },
});
