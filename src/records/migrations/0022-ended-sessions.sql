-- Sessions are forgotten a while after their end.
CREATE INDEX macaroons_by_end ON macaroons (valid_until);
