-- What ends, and is forgotten then or after a while, is found by when it ends.
CREATE INDEX package_offers_by_end ON package_offers (expires_at);
CREATE INDEX image_credentials_by_end ON image_credentials (ends_at) WHERE ends_at IS NOT NULL;
