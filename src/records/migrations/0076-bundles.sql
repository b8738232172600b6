-- What bundles deploy is looked for among the few of them.
CREATE INDEX packages_bundles ON packages (id) WHERE type = 'bundle';
