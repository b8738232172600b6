-- Invites and set-up links are found by when they end, so that those that ended long ago can be forgotten.
CREATE INDEX invites_by_end ON invites (expires_at) WHERE accepted_at IS NULL;
CREATE INDEX set_up_links_by_end ON set_up_links (expires_at);
